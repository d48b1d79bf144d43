// Payloads and results that go over the wire.
use hooks_runtime::hook_points;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rest {
    pub n: u32,
}

hook_points! {
    #![hook(json = "camelCase")]

    pub modifying BeforePrompt {
        session_id: String,
        personality_id: Option<String>,
        #[serde(rename = "lang")]
        locale: String,
    } -> { prepend_system: String }

    #[payload(serde(rename_all = "snake_case"))]
    pub void Told {
        one_word: u32,
        #[serde(flatten)]
        rest: Rest,
    }
}

fn sent<T: Serialize + for<'de> Deserialize<'de>>() {}

fn main() {
    sent::<BeforePromptPayload>();
    sent::<BeforePromptResult>();
    sent::<ToldPayload>();
}

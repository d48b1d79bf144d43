//! The guide to a first hook shows what the agent really prints.

mod support;

use hooks_examples::day;
use hooks_examples::view::{self, Look};
use hooks_points::{BeforePromptBuild, BeforePromptBuildPayload, BeforePromptBuildResult};
use hooks_runtime::hook_handlers;
use support::{transcript, without_times, workspace};

/// The plugin of the guide.
struct Place(String);

#[hook_handlers(plugin = "place")]
impl Place {
    #[hook_handler(BeforePromptBuild, priority = -20)]
    fn where_we_are(&self, _: &BeforePromptBuildPayload) -> BeforePromptBuildResult {
        let prepend_system = Some(format!("You are in {}.", self.0));
        BeforePromptBuildResult { prepend_system, ..Default::default() }
    }
}

#[tokio::test]
async fn the_guide_shows_what_the_agent_prints() {
    let house = day::house().expect("a house");
    drop(house.agent.hooks().install(Place("the workshop".into())).expect("installed"));
    let mut records = Vec::new();
    day::live(&house, |record| records.push(record)).await.expect("a day");
    let summary = view::summary(&house).expect("a summary");
    let printed =
        without_times(&transcript(Look::default(), &records, &summary)).replace(" TIME", "");

    let guide = workspace().join("hooks-points/src/guides/first_hook.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let shown = guide.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let shown = shown.expect("the guide shows an output");
    assert!(printed.contains(shown), "the guide shows:\n{shown}\nthe agent prints:\n{printed}");
}

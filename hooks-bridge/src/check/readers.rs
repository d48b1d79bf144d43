//! Which products read a file.

use std::path::Path;

use crate::config::Source;
use crate::dialect::Dialect;

/// The products that read a file by its place: its own first, then those that read it too,
/// without being asked.
pub(super) fn of(source: &Source) -> Vec<Dialect> {
    let others = Dialect::ALL.into_iter();
    let others =
        others.filter(|dialect| *dialect != source.dialect && dialect.also_reads(&source.file));
    std::iter::once(source.dialect).chain(others).collect()
}

/// The dialect that a file is written in: by its place, else by the events that it has, if it
/// has any that some dialect knows.
pub(super) fn dialect_of(file: &Path, text: &str) -> Option<Dialect> {
    Dialect::placed(file).or_else(|| by_content(text))
}

/// The dialect with the most events of its own in a text; of several the first.
fn by_content(text: &str) -> Option<Dialect> {
    let score = |dialect: Dialect| {
        let rules = dialect.rules();
        let known =
            rules.events.iter().filter(|event| text.contains(&format!("\"{}\"", event.name)));
        let keys =
            rules.format.handler_keys.iter().filter(|key| text.contains(&format!("\"{key}\"")));
        let shape = usize::from(rules.format.nested == text.matches("\"hooks\"").count().gt(&1));
        match known.count() {
            0 => 0,
            known => known * 4 + keys.count() + shape * 2,
        }
    };
    let best = Dialect::ALL.into_iter().rev().max_by_key(|dialect| score(*dialect));
    best.filter(|dialect| score(*dialect) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_place_and_by_content() {
        let of = |file: &str, text: &str| dialect_of(Path::new(file), text).unwrap();
        assert_eq!(of("/a/.gemini/settings.json", ""), Dialect::Gemini);
        assert_eq!(of("/a/.github/hooks/x.json", ""), Dialect::Copilot);
        let nested = |event: &str| {
            format!(
                "{{\"hooks\": {{\"{event}\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"x\"}}]}}]}}}}"
            )
        };
        assert_eq!(of("x.json", &nested("PreToolUse")), Dialect::ClaudeCode);
        assert_eq!(of("x.json", &nested("BeforeTool")), Dialect::Gemini);
        let flat = |handler: &str| {
            format!("{{\"version\": 1, \"hooks\": {{\"preToolUse\": [{{{handler}}}]}}}}")
        };
        assert_eq!(of("x.json", &flat("\"command\": \"x\"")), Dialect::Cursor);
        assert_eq!(dialect_of(Path::new("x.json"), "{\"hooks\": {}}"), None);
        assert_eq!(of("x.json", &flat("\"bash\": \"x\", \"timeoutSec\": 3")), Dialect::Copilot);
    }
}

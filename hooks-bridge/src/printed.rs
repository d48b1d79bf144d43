//! What a command printed to stdout: nothing, text, or one JSON object.

use serde_json::{Deserializer, Map, Value};

/// What a command printed.
#[derive(Debug, PartialEq)]
pub(crate) enum Printed {
    Nothing,
    Text(String),
    Object(Map<String, Value>),
    /// It begins like an object and is not one: why.
    Broken(String),
}

/// Reads stdout as the products do: what begins with `{` is one object.
pub(crate) fn printed(stdout: &[u8]) -> Printed {
    let text = String::from_utf8_lossy(stdout);
    match text.trim() {
        "" => Printed::Nothing,
        object if object.starts_with('{') => match one_object(object) {
            Ok(map) => Printed::Object(map),
            Err(why) => Printed::Broken(why),
        },
        text => Printed::Text(text.to_owned()),
    }
}

/// Reads stdout so that no answer is overlooked: text that is not UTF-8, or that has an
/// object somewhere behind a banner, is broken.
pub(crate) fn printed_strictly(stdout: &[u8]) -> Printed {
    if let Err(error) = std::str::from_utf8(stdout) {
        return Printed::Broken(format!("it is not UTF-8, from byte {}", error.valid_up_to()));
    }
    match printed(stdout) {
        Printed::Text(text) if hides_an_object(&text) => Printed::Broken(
            "there is other text around a JSON object; print the object alone".into(),
        ),
        printed => printed,
    }
}

/// Reads stdout where text is what is wanted and nothing can be denied: an object that is
/// somewhere in the text is text, too, and the second value says so.
pub(crate) fn printed_as_text(stdout: &[u8]) -> (Printed, bool) {
    match (printed_strictly(stdout), printed(stdout)) {
        (Printed::Broken(_), Printed::Text(text)) if std::str::from_utf8(stdout).is_ok() => {
            (Printed::Text(text), true)
        }
        (strictly, _) => (strictly, false),
    }
}

/// Exactly one object.
pub(crate) fn one_object(text: &str) -> Result<Map<String, Value>, String> {
    let mut documents = Deserializer::from_str(text).into_iter::<Value>();
    match documents.next() {
        Some(Ok(Value::Object(map))) => match documents.next() {
            None => Ok(map),
            Some(Ok(_)) => Err("it is more than one JSON document".into()),
            Some(Err(_)) => Err("there is other text after the JSON object".into()),
        },
        Some(Ok(_)) => Err("it is JSON, but no object".into()),
        Some(Err(error)) => Err(format!("it is not valid JSON: {error}")),
        None => Err("it is empty".into()),
    }
}

/// The keys with which some dialect says no.
const NO: [&str; 6] =
    ["decision", "permissionDecision", "permission", "behavior", "continue", "hookSpecificOutput"];

/// How many beginnings of objects are tried. A text with more may hide anything.
const MOST_TRIES: usize = 4096;

/// Whether a line begins an object, or an object anywhere has a key that says no.
fn hides_an_object(text: &str) -> bool {
    for (tried, (at, _)) in text.match_indices('{').enumerate() {
        if tried == MOST_TRIES {
            return true;
        }
        let first = Deserializer::from_str(&text[at..]).into_iter::<Value>().next();
        let Some(Ok(Value::Object(map))) = first else { continue };
        let begins_line = text[..at].trim_end_matches([' ', '\t']).ends_with('\n');
        if (begins_line && !map.is_empty()) || NO.iter().any(|key| map.contains_key(*key)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_told_apart() {
        let strictly = |text: &str| printed_strictly(text.as_bytes());
        assert_eq!(strictly(" \n"), Printed::Nothing);
        assert_eq!(strictly("hello\n"), Printed::Text("hello".into()));
        assert_eq!(strictly("[1]"), Printed::Text("[1]".into()));
        assert!(matches!(strictly(" {\"a\": 1} \n"), Printed::Object(map) if map.len() == 1));
        assert_eq!(strictly("{}\n{}"), Printed::Broken("it is more than one JSON document".into()));
        assert!(matches!(strictly("{ deny }"), Printed::Broken(_)));
        assert!(matches!(strictly("banner v1\n{\"a\": 1}"), Printed::Broken(_)));
        assert_eq!(strictly("a set { of } braces"), Printed::Text("a set { of } braces".into()));
        assert!(
            matches!(printed_strictly(b"\xff\xfe"), Printed::Broken(why) if why.contains("byte 0"))
        );
    }
}

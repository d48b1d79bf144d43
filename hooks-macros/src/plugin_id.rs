//! Plugin ids, as far as they are written out. The runtime checks them all.

use syn::LitStr;

/// What a plugin id may hold besides letters and digits.
const SEPARATORS: [char; 3] = ['-', '_', '.'];

/// Refuses an id that the runtime would refuse for its characters.
pub(crate) fn check(id: &LitStr) -> syn::Result<()> {
    let text = id.value();
    let allowed = |letter: &char| letter.is_ascii_alphanumeric() || SEPARATORS.contains(letter);
    let message = match text.chars().find(|letter| !allowed(letter)) {
        Some(bad) => format!(
            "a plugin id is made of ASCII letters, digits, `-`, `_` and `.`, so {bad:?} cannot be in it"
        ),
        None if text.starts_with(SEPARATORS) || text.ends_with(SEPARATORS) => {
            "a plugin id starts and ends with a letter or a digit".to_owned()
        }
        None => return Ok(()),
    };
    Err(syn::Error::new(id.span(), format!("{message}: write `plugin = \"{}\"`", near(&text))))
}

/// The nearest id that is accepted.
fn near(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let dashed: String = text.chars().map(plain).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "id".to_owned() } else { words.join("-") }
}

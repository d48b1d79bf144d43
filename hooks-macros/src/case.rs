//! Snake case of an identifier, for default names.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;

/// `OrderPlaced` is `order_placed`, `HTTPServer` is `http_server`.
pub(crate) fn snake(ident: &Ident) -> String {
    let letters: Vec<char> = ident.unraw().to_string().chars().collect();
    let mut snake = String::with_capacity(letters.len() + 4);
    for (at, &letter) in letters.iter().enumerate() {
        if letter.is_uppercase() && starts_word(&letters, at) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// `order_placed` is `OrderPlaced`, and so is `order-placed`.
pub(crate) fn pascal(text: &str) -> String {
    text.split(|letter: char| !letter.is_alphanumeric())
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters)
        })
        .collect()
}

/// A capital starts a word after a small letter or a digit, and as the last of
/// a run of capitals when a small letter follows it.
fn starts_word(letters: &[char], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|at| letters.get(at)) else {
        return false;
    };
    let lower_follows = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
    before.is_lowercase() || before.is_numeric() || (before.is_uppercase() && lower_follows)
}

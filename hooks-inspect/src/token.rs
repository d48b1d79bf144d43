//! The token that a page shows to be allowed to change settings.

use std::fmt;

use subtle::ConstantTimeEq as _;
use thiserror::Error;

/// What a page must show to change settings.
///
/// Its `Debug` form does not contain it, and it is compared in constant time.
///
/// ```
/// use hooks_inspect::Token;
///
/// let token = Token::generate();
/// assert_eq!(format!("{token:?}"), "Token(…)");
/// assert_eq!(token.as_str().len(), 32);
/// assert_ne!(token.as_str(), Token::generate().as_str());
/// ```
#[derive(Clone)]
pub struct Token(String);

/// Why a text cannot be a token.
///
/// ```
/// use hooks_inspect::{Token, TokenError};
///
/// assert_eq!(Token::new("secret").unwrap_err(), TokenError::Short { length: 6 });
/// let spaced = Token::new("two words are no token").unwrap_err();
/// assert_eq!(
///     spaced.to_string(),
///     "a token is of printable ASCII without spaces: it travels in a header and in an address",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It is short enough to be guessed.
    #[error(
        "a token has at least {} characters, this one has {length}: `Token::generate()` makes one",
        Token::SHORTEST
    )]
    Short {
        /// How many it has.
        length: usize,
    },
    /// It has characters that a header or an address cannot carry as they are.
    #[error(
        "a token is of printable ASCII without spaces: it travels in a header and in an address"
    )]
    Unprintable,
}

impl Token {
    /// The fewest characters of a token.
    ///
    /// The example of [`TokenError`] has a text that is shorter.
    pub const SHORTEST: usize = 16;

    /// A new token of 128 random bits, from the system's source.
    ///
    /// The example of [`Token`] makes one.
    ///
    /// # Panics
    /// If the system has no source of randomness.
    pub fn generate() -> Self {
        Self(random_hex())
    }

    /// This text, of 16 printable ASCII characters or more: as from a secret that the
    /// host is given.
    ///
    /// The example of [`TokenError`] has some that are refused.
    pub fn new(text: impl Into<String>) -> Result<Self, TokenError> {
        let text = text.into();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Unprintable);
        }
        match text.len() {
            length if length < Self::SHORTEST => Err(TokenError::Short { length }),
            _ => Ok(Self(text)),
        }
    }

    /// The text itself, to be handed to the operator and to nothing else.
    ///
    /// The example of [`Token`] looks at its length.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the token. How long that takes says nothing of how much of it is.
    pub(crate) fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// 128 random bits.
pub(crate) fn random_hex() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has a source of randomness");
    format!("{:032x}", u128::from_ne_bytes(bytes))
}

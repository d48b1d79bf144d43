//! Durations as users write them: a whole number and a unit, `"5s"`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// A duration above zero.
#[derive(Clone, Copy)]
pub(crate) struct Nanos(u64);

impl Nanos {
    /// Reads `"200ms"`.
    pub(crate) fn parse(literal: &LitStr) -> syn::Result<Self> {
        read(&literal.value()).map(Self).map_err(|message| syn::Error::new(literal.span(), message))
    }

    /// The expression that makes the same `Duration`.
    pub(crate) fn expand(self) -> TokenStream {
        let nanos = self.0;
        quote!(::core::time::Duration::from_nanos(#nanos))
    }
}

fn read(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let scale = UNITS.iter().find(|(name, _)| *name == unit);
    let (false, Some((_, scale))) = (number.is_empty(), scale) else {
        return Err(format!(
            "`{text}` is not a duration: write a whole number and one of the units \
             ns, us, ms, s, m or h, as in \"5s\""
        ));
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(*scale)) {
        Some(0) => Err("a timeout of zero fails every handler: write a longer one, as in \"5s\", \
                        or leave it out"
            .to_owned()),
        Some(nanos) => Ok(nanos),
        None => Err(format!("`{text}` is too long: a duration must fit in 64 bits of nanoseconds")),
    }
}

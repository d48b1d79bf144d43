//! Durations as users write them: a whole number and a unit, `"5s"`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitInt;
use syn::parse::ParseStream;

use crate::keys;

const EXAMPLE: &str = "timeout = \"5s\"";

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
    /// Reads the value of `timeout = "200ms"`.
    pub(crate) fn parse(input: ParseStream) -> syn::Result<Self> {
        keys::equals(input, EXAMPLE)?;
        if let Ok(number) = input.fork().parse::<LitInt>() {
            let message = format!("write `timeout = \"{}s\"`", number.base10_digits());
            return Err(syn::Error::new(number.span(), message));
        }
        let literal = keys::text(input, EXAMPLE)?;
        Self::read(&literal.value()).map_err(|message| syn::Error::new(literal.span(), message))
    }

    /// Reads `200ms`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        read(text).map(Self)
    }

    /// The expression that makes the same `Duration`.
    pub(crate) fn expand(self) -> TokenStream {
        let nanos = self.0;
        quote!(::core::time::Duration::from_nanos(#nanos))
    }
}

/// The duration that was most likely meant: a number without its unit is in
/// seconds, and units are often written out.
fn meant(text: &str) -> Option<String> {
    let (number, unit) = split(text);
    let unit = match unit.trim().to_lowercase().as_str() {
        "ns" | "nanos" | "nanosecond" | "nanoseconds" => "ns",
        "us" | "micros" | "microsecond" | "microseconds" => "us",
        "ms" | "millis" | "millisecond" | "milliseconds" => "ms",
        "" | "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hour" | "hours" => "h",
        _ => return None,
    };
    (!number.is_empty()).then(|| format!("{number}{unit}"))
}

fn split(text: &str) -> (&str, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text.split_at(digits)
}

fn read(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let scale = UNITS.iter().find(|(name, _)| *name == unit);
    let (false, Some((_, scale))) = (number.is_empty(), scale) else {
        let meant = meant(text).map_or_else(
            || "write a whole number and a unit, as in \"5s\".".to_owned(),
            |meant| format!("did you mean \"{meant}\"?"),
        );
        return Err(format!(
            "`{text}` is not a duration: {meant} The units are ns, us, ms, s, m and h"
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

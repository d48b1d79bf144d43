//! Durations as users write them.

use proc_macro2::Span;
use syn::LitStr;

use crate::duration::Nanos;

fn read(text: &str) -> Result<String, String> {
    Nanos::parse(&LitStr::new(text, Span::call_site()))
        .map(|nanos| nanos.expand().to_string().replace(' ', ""))
        .map_err(|error| error.to_string())
}

#[test]
fn every_unit_is_read() {
    let cases = [
        ("7ns", 7),
        ("7us", 7_000),
        ("200ms", 200_000_000),
        ("5s", 5_000_000_000),
        ("2m", 120_000_000_000_u64),
        ("1h", 3_600_000_000_000),
    ];
    for (text, nanos) in cases {
        let expected = format!("::core::time::Duration::from_nanos({nanos}u64)");
        assert_eq!(read(text).as_deref(), Ok(expected.as_str()));
    }
}

#[test]
fn what_is_no_duration_is_refused() {
    for text in ["", "5", "s", "5 s", "-5s", "1.5s", "5sec", "5S", "٥s"] {
        let message = read(text).expect_err(text);
        assert!(message.contains("is not a duration: write a whole number"), "{text}: {message}");
    }
}

#[test]
fn zero_and_too_long_are_refused() {
    assert!(read("0ms").expect_err("zero").contains("a timeout of zero"));
    assert!(read("99999999999999999999s").expect_err("digits").contains("too long"));
    assert!(read("9999999999h").expect_err("product").contains("too long"));
}

//! Durations as users write them.

use crate::duration::Nanos;

fn read(text: &str) -> Result<String, String> {
    Nanos::read(text).map(|nanos| nanos.expand().to_string().replace(' ', ""))
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
    for text in ["", "s", "-5s", "1.5s", "5 apples", "٥s"] {
        let message = read(text).expect_err(text);
        assert!(message.contains("is not a duration: write a whole number"), "{text}: {message}");
    }
}

#[test]
fn what_was_meant_is_offered() {
    let cases = [
        ("5", "5s"),
        ("5 s", "5s"),
        ("5S", "5s"),
        ("5sec", "5s"),
        ("5 seconds", "5s"),
        ("200 ms", "200ms"),
        ("200 millis", "200ms"),
        ("2min", "2m"),
        ("1 hour", "1h"),
    ];
    for (text, meant) in cases {
        let message = read(text).expect_err(text);
        let offer = format!("`{text}` is not a duration: did you mean \"{meant}\"?");
        assert!(message.starts_with(&offer), "{text}: {message}");
    }
}

#[test]
fn zero_and_too_long_are_refused() {
    assert!(read("0ms").expect_err("zero").contains("a timeout of zero"));
    assert!(read("99999999999999999999s").expect_err("digits").contains("too long"));
    assert!(read("9999999999h").expect_err("product").contains("too long"));
}

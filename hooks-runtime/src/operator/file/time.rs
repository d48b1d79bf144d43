//! Durations and times as a file has them.

use std::time::{Duration, SystemTime};

use toml_datetime::{Datetime, Offset};

const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const SECONDS_A_DAY: i64 = 24 * 60 * 60;

/// What `until` takes.
pub(super) const AN_END: &str =
    "a date and a time with an offset, without quotes, as 2027-01-31T18:00:00Z";

/// Reads a whole number and a unit, `200ms`: what the macros accept as well.
pub(super) fn duration(text: &str) -> Result<Duration, &'static str> {
    let (number, unit) = split(text);
    let scale = UNITS.iter().find(|(name, _)| *name == unit);
    let (false, Some((_, scale))) = (number.is_empty(), scale) else {
        return Err("is no duration: write a whole number and a unit, as in \"200ms\"; the units \
                    are ns, us, ms, s, m and h");
    };
    let nanos = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*scale));
    nanos.map(Duration::from_nanos).ok_or("is longer than any duration here: use 365 days or less")
}

fn split(text: &str) -> (&str, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text.split_at(digits)
}

/// The time of the system's clock that a date and a time with an offset say.
pub(super) fn end(at: &Datetime) -> Result<SystemTime, String> {
    let Datetime { date: Some(date), time: Some(time), offset } = at else {
        return Err(format!("`{at}` is a part of a time only: expected {AN_END}"));
    };
    let minutes_east = match offset {
        Some(Offset::Z) => 0,
        Some(Offset::Custom { minutes }) => i64::from(*minutes),
        None => {
            return Err(format!(
                "`{at}` has no offset, so it would be another time in each time zone: add `Z`, or \
                 an offset as `+01:00`"
            ));
        }
    };
    let days = days_since_1970(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let minutes = i64::from(time.hour) * 60 + i64::from(time.minute) - minutes_east;
    let seconds = days * SECONDS_A_DAY + minutes * 60 + i64::from(time.second.unwrap_or(0));
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let at_second = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    let nanos = Duration::from_nanos(u64::from(time.nanosecond.unwrap_or(0)));
    let exact = at_second.and_then(|second| second.checked_add(nanos));
    exact.ok_or_else(|| format!("`{at}` is further away than this system's clock goes"))
}

/// The days from 1970-01-01 to a day of the Gregorian calendar, which has 146,097 days in
/// 400 years. A year is counted from March on, so that the leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{duration, end};

    #[test]
    fn durations_are_a_whole_number_and_a_unit() {
        for (text, nanos) in [
            ("7ns", 7),
            ("7us", 7_000),
            ("200ms", 200_000_000),
            ("5s", 5_000_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("0s", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for text in ["", "5", "s", "5 s", "5S", "1.5s", "-5s", "5s ", "٣s", "99999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        let seconds = |text: &str| {
            let at = end(&text.parse().unwrap()).unwrap();
            match at.duration_since(SystemTime::UNIX_EPOCH) {
                Ok(after) => i64::try_from(after.as_secs()).unwrap(),
                Err(before) => -i64::try_from(before.duration().as_secs()).unwrap(),
            }
        };
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T01:00:00+01:00", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2026-12-01T00:00:00Z", 1_796_083_200),
            ("2026-11-30T22:30:00-01:30", 1_796_083_200),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("0000-01-01T00:00:00Z", -62_167_219_200),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        let half = end(&"1970-01-01T00:00:00.5Z".parse().unwrap()).unwrap();
        assert_eq!(half, SystemTime::UNIX_EPOCH + Duration::from_millis(500));
    }
}

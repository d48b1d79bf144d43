//! A stable sample of fires.

use std::fmt;

/// The part of all fires for which a handler is called, in millionths.
///
/// Which fires they are depends on the number of the fire and the name of the handler
/// alone, so the same fire has the same answer whenever it is asked.
///
/// ```
/// use hooks_runtime::operator::Fraction;
///
/// assert_eq!(Fraction::new(0.25)?.to_string(), "25 %");
/// assert_eq!(Fraction::new(0.25)?.per_million(), 250_000);
/// assert_eq!(Fraction::new(1.5), Err("a fraction is between 0 and 1"));
/// # Ok::<_, &'static str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fraction {
    per_million: u32,
}

const WHOLE: u32 = 1_000_000;

impl Fraction {
    /// A part of the whole, from 0 to 1; a millionth is the finest.
    pub fn new(part: f64) -> Result<Self, &'static str> {
        if !(0.0..=1.0).contains(&part) {
            return Err("a fraction is between 0 and 1");
        }
        // In range, as was just seen.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let per_million = (part * f64::from(WHOLE)).round() as u32;
        if per_million == 0 && part > 0.0 {
            return Err("a millionth is the smallest fraction above 0");
        }
        Ok(Self { per_million })
    }

    /// How many of a million.
    pub fn per_million(self) -> u32 {
        self.per_million
    }

    /// Whether a fire is in the sample of a handler.
    pub(crate) fn has(self, fire: u64, handler: &str) -> bool {
        mix(fire ^ hash(handler)) % u64::from(WHOLE) < u64::from(self.per_million)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(self.per_million) / 10_000.0)
    }
}

/// FNV-1a. Not the standard library's hasher: its results may change, and a replay in
/// another process has to come to the same ones.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The last steps of `SplitMix64`: numbers of fires that follow each other come far apart.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use super::Fraction;

    #[test]
    fn a_sample_has_its_part_and_is_the_same_each_time() {
        let tenth = Fraction::new(0.1).unwrap();
        let sampled = |handler: &str| -> Vec<u64> {
            (0..10_000).filter(|fire| tenth.has(*fire, handler)).collect()
        };
        let one = sampled("p:a/one");
        assert_eq!(one, sampled("p:a/one"));
        assert_ne!(one, sampled("p:a/two"));
        assert!((900..1_100).contains(&one.len()), "{}", one.len());
        assert_eq!(one[..4], [6, 7, 9, 13]);
        assert!((0..1_000).all(|fire| !Fraction::new(0.0).unwrap().has(fire, "x")));
        assert!((0..1_000).all(|fire| Fraction::new(1.0).unwrap().has(fire, "x")));
    }
}

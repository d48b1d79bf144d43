//! The settings that are tables of their own: a rate limit and a breaker.

use toml::de::DeValue;

use crate::operator::breaker::{BreakerSettings, MOST_CALLS};
use crate::operator::file::problem::FileProblem;
use crate::operator::file::source::Mistakes;
use crate::operator::file::value::{Field, fields};
use crate::operator::rate::RateLimit;

const RATE_KEYS: &[&str] = &["calls", "per", "burst"];
const BREAKER_KEYS: &[&str] = &["consecutive", "percent", "over", "at_least", "open_for", "shadow"];

impl<'s> Field<'s> {
    /// The fields of its value, which is a table.
    fn table(&self, example: &str, mistakes: &mut Mistakes) -> Option<Vec<Field<'s>>> {
        match self.value {
            DeValue::Table(table) => Some(fields(table, Some(&self.key), self.source)),
            _ => self.wrong_type(format!("a table, as {example}"), mistakes),
        }
    }

    pub(super) fn rate_limit(&self, mistakes: &mut Mistakes) -> Option<RateLimit> {
        let all = self.table("`{ calls = 100, per = \"1s\" }`", mistakes)?;
        let (mut calls, mut per, mut burst) = (None, None, None);
        for field in &all {
            match field.name {
                "calls" => calls = field.number(0..=u32::MAX, mistakes),
                "per" => per = field.duration(mistakes),
                "burst" => burst = field.number(1..=u32::MAX, mistakes),
                _ => field.unknown(RATE_KEYS, mistakes),
            }
        }
        for key in ["calls", "per"] {
            if all.iter().all(|field| field.name != key) {
                let expected = "a rate is so many calls in such a time, as \
                                `{ calls = 100, per = \"1s\" }`";
                self.mistake(FileProblem::Missing { key, expected }, mistakes);
            }
        }
        let limit = RateLimit::new(calls?, per?);
        Some(match burst {
            Some(burst) => limit.burst(burst),
            None => limit,
        })
    }

    pub(super) fn breaker(&self, mistakes: &mut Mistakes) -> Option<BreakerSettings> {
        let all = self.table("`{ consecutive = 5, open_for = \"30s\" }`", mistakes)?;
        let has = |key: &str| all.iter().any(|field| field.name == key);
        let is_in_a_row = has("consecutive") && !has("percent");
        let (mut settings, mut over, mut at_least, mut open_for) = (None, None, None, None);
        let mut is_shadow = false;
        for field in &all {
            match field.name {
                "consecutive" => {
                    let failures = field.number(1..=u32::MAX, mistakes);
                    settings = failures.map(BreakerSettings::consecutive);
                }
                "percent" => {
                    let percent = field.number(1..=100, mistakes);
                    let percent = percent.and_then(|percent| u8::try_from(percent).ok());
                    settings = percent.map(BreakerSettings::rate);
                }
                "over" | "at_least" if is_in_a_row => {
                    let problem = "this belongs to `percent`, and the breaker counts failures in a \
                                   row: leave it out";
                    field.bad::<()>(problem.to_owned(), mistakes);
                }
                "over" => over = field.duration(mistakes),
                "at_least" => at_least = field.number(1..=MOST_CALLS, mistakes),
                "open_for" => open_for = field.duration(mistakes),
                "shadow" => is_shadow = field.truth(mistakes).unwrap_or(false),
                _ => field.unknown(BREAKER_KEYS, mistakes),
            }
        }
        if has("consecutive") == has("percent") {
            let problem = "a breaker counts failures in a row, as `{ consecutive = 5 }`, or in a \
                           hundred calls, as `{ percent = 50 }`: give one of the two";
            return self.bad(problem.to_owned(), mistakes);
        }
        let mut settings = settings?;
        if let Some(window) = over {
            settings = settings.over(window);
        }
        if let Some(calls) = at_least {
            settings = settings.at_least(calls);
        }
        if let Some(time) = open_for {
            settings = settings.open_for(time);
        }
        Some(if is_shadow { settings.shadow() } else { settings })
    }
}

//! The two words of a breaker, taken apart.

use super::state::BreakerState;

pub(super) const PERIOD_BITS: u32 = 12;
pub(super) const STAMP_BITS: u32 = 50;
pub(super) const WINDOW_BITS: u32 = 20;
pub(super) const COUNTED_BITS: u32 = 32;
/// Of the calls and of the failures of a window.
pub(super) const COUNT_BITS: u32 = 16;

pub(super) const MAX_PERIOD: u64 = (1 << PERIOD_BITS) - 1;
pub(super) const MAX_STAMP: u64 = (1 << STAMP_BITS) - 1;
pub(super) const MAX_WINDOW: u64 = (1 << WINDOW_BITS) - 1;
pub(super) const MAX_COUNT: u64 = (1 << COUNT_BITS) - 1;

/// A value of the word `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateWord(pub(super) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Closed = 0,
    Open = 1,
    /// Half-open, and the permit of the probe is free.
    Free = 2,
    /// Half-open, and a probe is out.
    Probing = 3,
}

impl Kind {
    pub(super) fn state(self) -> BreakerState {
        match self {
            Self::Closed => BreakerState::Closed,
            Self::Open => BreakerState::Open,
            Self::Free | Self::Probing => BreakerState::HalfOpen,
        }
    }
}

impl StateWord {
    pub(super) fn new(kind: Kind, period: u64, stamp: u64) -> Self {
        Self((kind as u64) << (PERIOD_BITS + STAMP_BITS) | period << STAMP_BITS | stamp)
    }

    pub(super) fn kind(self) -> Kind {
        match self.0 >> (PERIOD_BITS + STAMP_BITS) {
            0 => Kind::Closed,
            1 => Kind::Open,
            2 => Kind::Free,
            _ => Kind::Probing,
        }
    }

    pub(super) fn period(self) -> u64 {
        self.0 >> STAMP_BITS & MAX_PERIOD
    }

    pub(super) fn stamp(self) -> u64 {
        self.0 & MAX_STAMP
    }

    pub(super) fn stamped(kind: Kind, period: u64, earliest: u64, now: u64) -> Self {
        Self::new(kind, period, now.max(earliest).min(MAX_STAMP))
    }

    /// A new period begins. No word before was equal to it: a period comes again with a
    /// later stamp only.
    pub(super) fn closed(self, now: u64) -> Self {
        let period = (self.period() + 1) & MAX_PERIOD;
        Self::stamped(Kind::Closed, period, self.stamp() + u64::from(period == 0), now)
    }

    /// After a closed breaker, or a probe. No word before was equal to it: since the
    /// breaker was open before in this period, the time for that has passed.
    pub(super) fn open(self, now: u64) -> Self {
        Self::stamped(Kind::Open, self.period(), self.stamp(), now)
    }

    /// After an open breaker whose time has passed, or a permit that was given back.
    pub(super) fn probing(self, now: u64) -> Self {
        Self::stamped(Kind::Probing, self.period(), self.stamp(), now)
    }

    /// After a probe that was dropped.
    pub(super) fn free(self) -> Self {
        Self::new(Kind::Free, self.period(), self.stamp())
    }
}

/// A value of the word `counts`, without its period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) window: u64,
    /// The failures in a row, or calls and failures.
    pub(super) counted: u32,
}

impl Counts {
    /// Whether no failure, or call, is counted in this word, of whatever period.
    pub(super) fn is_none(word: u64) -> bool {
        word << (u64::BITS - COUNTED_BITS) == 0
    }

    pub(super) fn period(word: u64) -> u64 {
        word >> (WINDOW_BITS + COUNTED_BITS)
    }

    /// What was counted in that period.
    pub(super) fn unpack(word: u64, period: u64) -> Self {
        if Self::period(word) != period {
            return Self { window: 0, counted: 0 };
        }
        let counted = u32::try_from(word & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        Self { window: word >> COUNTED_BITS & MAX_WINDOW, counted }
    }

    pub(super) fn pack(self, period: u64) -> u64 {
        period << (WINDOW_BITS + COUNTED_BITS)
            | self.window << COUNTED_BITS
            | u64::from(self.counted)
    }

    /// What was counted in that window, or in a later one that another caller's clock
    /// has come to.
    pub(super) fn in_window(self, window: u64) -> Self {
        if window > self.window { Self { window, counted: 0 } } else { self }
    }

    pub(super) fn calls_and_failures(self) -> (u64, u64) {
        let counted = u64::from(self.counted);
        (counted >> COUNT_BITS, counted & MAX_COUNT)
    }

    pub(super) fn with_calls_and_failures(self, calls: u64, failures: u64) -> Self {
        let counted = u32::try_from(calls << COUNT_BITS | failures).unwrap_or(u32::MAX);
        Self { counted, ..self }
    }
}

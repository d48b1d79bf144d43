//! Which plugins may take part in a fire.

use std::fmt;
use std::sync::Arc;

use crate::plugin::record::PluginName;
use crate::registry::Inner;

/// Which plugins may take part. Built-in handlers always may.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Plugins {
    /// Every plugin.
    All,
    /// None: built-in handlers only.
    BuiltIn,
    /// Those with these ids. An id that no plugin has admits none.
    Only(Vec<String>),
}

impl Plugins {
    /// Only the plugins with these ids.
    pub fn only<I>(ids: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self::Only(ids.into_iter().map(Into::into).collect())
    }
}

/// Owners of handlers, by their bits. Bit zero stands for built-in ones.
#[derive(Debug, Default)]
pub(crate) struct OwnerSet {
    words: Vec<u64>,
}

impl OwnerSet {
    fn insert(&mut self, bit: u32) {
        let word = bit as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (bit % 64);
    }

    #[inline]
    fn contains(&self, bit: u32) -> bool {
        self.words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Adds those of `other`.
    pub(crate) fn extend(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Whether all of `other` are in it.
    #[inline]
    fn is_superset(&self, other: &Self) -> bool {
        let words = self.words.iter().copied().chain(std::iter::repeat(0));
        other.words.iter().zip(words).all(|(other, word)| other & !word == 0)
    }
}

impl FromIterator<u32> for OwnerSet {
    fn from_iter<I: IntoIterator<Item = u32>>(bits: I) -> Self {
        let mut set = Self::default();
        bits.into_iter().for_each(|bit| set.insert(bit));
        set
    }
}

/// The admitted plugins, worked out once.
#[derive(Debug)]
pub(crate) struct ScopeBits {
    admitted: OwnerSet,
    /// Keeps the bits from being assigned to other ids.
    names: Vec<Arc<PluginName>>,
}

impl ScopeBits {
    pub(crate) fn new(names: Vec<Arc<PluginName>>) -> Self {
        // Built-in handlers are always admitted.
        let admitted = [0].into_iter().chain(names.iter().map(|name| name.bit())).collect();
        Self { admitted, names }
    }

    #[inline]
    pub(crate) fn admits(&self, bit: u32) -> bool {
        self.admitted.contains(bit)
    }

    /// Whether all of those owners are admitted.
    #[inline(never)]
    pub(crate) fn admits_all(&self, owners: &OwnerSet) -> bool {
        self.admitted.is_superset(owners)
    }

    /// What both admit.
    fn intersected(&self, other: &Self) -> Self {
        Self::new(self.names.iter().filter(|name| other.admits(name.bit())).cloned().collect())
    }
}

/// A registry seen through a scope: what is fired here reaches only the
/// plugins of the scope, and built-in handlers.
///
/// Cheap to clone. Made by [`scope`](Self::scope) of a registry; a scope of a
/// scope can only narrow it.
#[derive(Clone)]
pub struct ScopedHooks {
    pub(crate) inner: Arc<Inner>,
    /// `None` admits every owner.
    pub(crate) bits: Option<Arc<ScopeBits>>,
}

impl ScopedHooks {
    /// Identifies this registry for as long as it exists.
    #[inline]
    pub(crate) fn registry(&self) -> usize {
        Arc::as_ptr(&self.inner).addr()
    }

    /// These hooks, narrowed further to `plugins`.
    #[must_use]
    pub fn scope(&self, plugins: Plugins) -> Self {
        let wanted = match plugins {
            Plugins::All => return self.clone(),
            Plugins::BuiltIn => ScopeBits::new(Vec::new()),
            Plugins::Only(ids) => ScopeBits::new(self.inner.names_of(&ids)),
        };
        let bits = match &self.bits {
            None => wanted,
            Some(already) => already.intersected(&wanted),
        };
        Self { inner: Arc::clone(&self.inner), bits: Some(Arc::new(bits)) }
    }
}

impl fmt::Debug for ScopedHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedHooks").field("scope", &self.bits).finish_non_exhaustive()
    }
}

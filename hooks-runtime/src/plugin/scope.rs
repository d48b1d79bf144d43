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
    /// Those with these ids. An id that no plugin has admits nobody.
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

/// The admitted plugins as bits, worked out once.
#[derive(Debug)]
pub(crate) struct ScopeBits {
    words: Box<[u64]>,
    /// Keeps the bits from being given to other ids.
    names: Vec<Arc<PluginName>>,
}

impl ScopeBits {
    pub(crate) fn new(names: Vec<Arc<PluginName>>) -> Self {
        let highest = names.iter().map(|name| name.bit()).max().unwrap_or(0);
        let mut words = vec![0; highest as usize / 64 + 1];
        // Bit zero stands for built-in handlers, which are always admitted.
        words[0] = 1;
        for name in &names {
            words[name.bit() as usize / 64] |= 1 << (name.bit() % 64);
        }
        Self { words: words.into(), names }
    }

    #[inline]
    pub(crate) fn admits(&self, bit: u32) -> bool {
        self.words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
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
    /// `None` admits everyone.
    pub(crate) bits: Option<Arc<ScopeBits>>,
}

impl ScopedHooks {
    /// What tells this registry from every other while it is there.
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

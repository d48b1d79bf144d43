//! Which plugins may take part in a fire.

use std::fmt;
use std::sync::Arc;

use crate::plugin::record::PluginName;
use crate::plugin::values::Values;
use crate::registry::Inner;

/// Which plugins may take part. Built-in handlers always may.
///
/// ```
/// # use hooks_runtime::{HookRegistry, Plugins, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// for plugin in ["audit", "beta"] {
///     hooks.register(on::<Saved>().plugin(plugin).handler(|_: &SavedPayload| ()))?;
/// }
/// let saved = SavedPayload { page: 1 };
/// hooks.scope(Plugins::only(["audit"])).fire_void::<Saved>(&saved).await?;
/// hooks.scope(Plugins::except(["beta"])).fire_void::<Saved>(&saved).await?;
/// hooks.scope(Plugins::BuiltIn).fire_void::<Saved>(&saved).await?;
/// let calls: Vec<_> = hooks.handlers().iter().map(|handler| handler.calls).collect();
/// assert_eq!(calls, [2, 0]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Plugins {
    /// Every plugin.
    All,
    /// None: built-in handlers only.
    BuiltIn,
    /// Those with these ids. An id that no plugin has admits none.
    Only(Vec<String>),
    /// Every plugin but those with these ids, also one that is installed later.
    Except(Vec<String>),
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

    /// Every plugin but those with these ids.
    pub fn except<I>(ids: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self::Except(ids.into_iter().map(Into::into).collect())
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

    /// Whether none of `other` is in it.
    #[inline]
    fn is_disjoint(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & other == 0)
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
    /// The admitted owners, or the others.
    owners: OwnerSet,
    /// Whether all are admitted but those.
    inverted: bool,
    /// Keeps the bits from being assigned to other ids.
    names: Vec<Arc<PluginName>>,
}

impl ScopeBits {
    /// Built-in handlers and these plugins.
    fn only(names: Vec<Arc<PluginName>>) -> Self {
        // Built-in handlers are always admitted.
        let owners = [0].into_iter().chain(names.iter().map(|name| name.bit())).collect();
        Self { owners, inverted: false, names }
    }

    /// All but these plugins.
    fn except(names: Vec<Arc<PluginName>>) -> Self {
        let owners = names.iter().map(|name| name.bit()).collect();
        Self { owners, inverted: true, names }
    }

    #[inline]
    pub(crate) fn admits(&self, bit: u32) -> bool {
        self.owners.contains(bit) != self.inverted
    }

    /// Whether all of those owners are admitted.
    #[inline(never)]
    pub(crate) fn admits_all(&self, owners: &OwnerSet) -> bool {
        if self.inverted {
            self.owners.is_disjoint(owners)
        } else {
            self.owners.is_superset(owners)
        }
    }

    /// The plugins that are named, and whether all others are admitted.
    #[cfg(feature = "record")]
    pub(crate) fn named(&self) -> (impl Iterator<Item = &str>, bool) {
        (self.names.iter().map(|name| name.id().as_str()), self.inverted)
    }

    /// What both admit.
    fn intersected(&self, other: &Self) -> Self {
        let names_of = |one: &Self, admitted_by: &Self| {
            one.names.iter().filter(|name| admitted_by.admits(name.bit())).cloned().collect()
        };
        match (self.inverted, other.inverted) {
            (false, _) => Self::only(names_of(self, other)),
            (true, false) => Self::only(names_of(other, self)),
            (true, true) => {
                let mut names: Vec<_> = names_of(self, other);
                names.extend(other.names.iter().cloned());
                Self::except(names)
            }
        }
    }
}

/// A registry seen through a scope: what is fired here reaches only the
/// plugins of the scope, and built-in handlers.
///
/// Cheap to clone. Made by [`scope`](Self::scope) of a registry; a scope of a
/// scope can only narrow it. It may carry values for the handlers
/// ([`with`](Self::with)).
///
/// ```
/// # use hooks_runtime::{FireError, HookRegistry, Plugins, ScopedHooks, hook_points, on};
/// # hook_points! { pub void Visited { page: String } }
/// // Code that only fires takes this: a registry fits too, by deref.
/// async fn serve(hooks: &ScopedHooks, page: &str) -> Result<(), FireError> {
///     hooks.fire_void::<Visited>(&VisitedPayload { page: page.to_owned() }).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Visited>().plugin("ads").handler(|_: &VisitedPayload| ()))?;
/// serve(&hooks, "/").await?;
/// serve(&hooks.scope(Plugins::BuiltIn), "/account").await?;
/// assert_eq!(hooks.handlers()[0].calls, 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ScopedHooks {
    pub(crate) inner: Arc<Inner>,
    /// `None` admits every owner.
    pub(crate) bits: Option<Arc<ScopeBits>>,
    /// What handlers can read of this scope.
    pub(crate) values: Option<Arc<Values>>,
}

impl ScopedHooks {
    /// Identifies this registry, also after it is gone.
    #[inline]
    pub(crate) fn registry(&self) -> usize {
        self.inner.id
    }

    /// These hooks, narrowed further to `plugins`.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Plugins, hook_points, on};
    /// # hook_points! { pub void Visited { page: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Visited>().plugin("ads").handler(|_: &VisitedPayload| ()))?;
    /// // A scope of a scope only narrows: this admits no plugin.
    /// let tenant = hooks.scope(Plugins::only(["themes"]));
    /// let both = tenant.scope(Plugins::only(["ads"]));
    /// both.fire_void::<Visited>(&VisitedPayload { page: "/".into() }).await?;
    /// assert_eq!(hooks.handlers()[0].calls, 0);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn scope(&self, plugins: Plugins) -> Self {
        let wanted = match plugins {
            Plugins::All => return self.clone(),
            Plugins::BuiltIn => ScopeBits::only(Vec::new()),
            Plugins::Only(ids) => ScopeBits::only(self.inner.names_of(&ids)),
            Plugins::Except(ids) => ScopeBits::except(self.inner.names_of(&ids)),
        };
        let bits = match &self.bits {
            None => wanted,
            Some(already) => already.intersected(&wanted),
        };
        Self { bits: Some(Arc::new(bits)), ..self.clone() }
    }
}

impl fmt::Debug for ScopedHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedHooks")
            .field("scope", &self.bits)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}

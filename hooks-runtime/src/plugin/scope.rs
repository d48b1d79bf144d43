//! Which plugins may take part in a fire.

use std::fmt;
use std::sync::Arc;

use crate::plugin::record::PluginName;
use crate::plugin::values::Values;
use crate::registry::Inner;
use crate::registry::entry::Owner;

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
    /// The one handler of those owners that is admitted, where it is one.
    single: Option<SingleHandler>,
}

/// One handler, and the hooks as its own fires see them.
#[derive(Debug)]
struct SingleHandler {
    name: Arc<str>,
    /// What was narrowed to it: what the handler fires in turn is not.
    outer: ScopedHooks,
}

impl ScopeBits {
    /// Built-in handlers and these plugins.
    fn only(names: Vec<Arc<PluginName>>) -> Self {
        // Built-in handlers are always admitted.
        let owners = [0].into_iter().chain(names.iter().map(|name| name.bit())).collect();
        Self { owners, inverted: false, names, single: None }
    }

    /// All but these plugins.
    fn except(names: Vec<Arc<PluginName>>) -> Self {
        let owners = names.iter().map(|name| name.bit()).collect();
        Self { owners, inverted: true, names, single: None }
    }

    /// That handler of the owner with that bit, and no other; none where `outer` does not
    /// admit the owner.
    fn single(bit: u32, names: Vec<Arc<PluginName>>, name: Arc<str>, outer: ScopedHooks) -> Self {
        let is_admitted = outer.bits.as_ref().is_none_or(|outer| outer.admits(bit, &name));
        let owners = is_admitted.then_some(bit).into_iter().collect();
        Self { owners, inverted: false, names, single: Some(SingleHandler { name, outer }) }
    }

    #[inline]
    pub(crate) fn admits(&self, bit: u32, handler: &str) -> bool {
        self.admits_owner(bit) && self.single.as_ref().is_none_or(|single| &*single.name == handler)
    }

    fn admits_owner(&self, bit: u32) -> bool {
        self.owners.contains(bit) != self.inverted
    }

    /// Whether all of those owners are admitted, with all of their handlers.
    #[inline(never)]
    pub(crate) fn admits_all(&self, owners: &OwnerSet) -> bool {
        if self.single.is_some() {
            false
        } else if self.inverted {
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
            let admitted = one.names.iter().filter(|name| admitted_by.admits_owner(name.bit()));
            admitted.cloned().collect()
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
        if let Some((owner, single)) = self.single() {
            return single.outer.scope(plugins).narrowed(owner, Arc::clone(&single.name));
        }
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

    /// These hooks, narrowed to one handler: what is fired through them calls that one, if
    /// the scope admits its owner, and skips all others.
    ///
    /// For hosts that call the handlers of a registry one by one, such as on behalf of
    /// another process. All laws hold for the call: condition, limit, policy, settings,
    /// report. What the handler fires in turn is not narrowed: the hooks of its context are
    /// these hooks as they were. A handler is known by its owner and its name, so a later one
    /// of that name is reached too.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Saved>().name("index").handler(|_: &SavedPayload| ()))?;
    /// hooks.register(on::<Saved>().name("copy").plugin("backup").handler(|_: &SavedPayload| ()))?;
    /// let copy = &hooks.handlers_of("backup")[0];
    /// hooks.only_handler(&copy.owner, &copy.name).fire_void::<Saved>(&SavedPayload { page: 1 }).await?;
    /// let calls: Vec<_> = hooks.handlers().iter().map(|handler| handler.calls).collect();
    /// assert_eq!(calls, [0, 1]);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn only_handler(&self, owner: &Owner, handler: &str) -> Self {
        let plugin = owner.plugin().map(|id| self.inner.names_of(&[id.as_str().to_owned()]));
        let plugin = plugin.and_then(|names| names.into_iter().next());
        self.narrowed(plugin, handler.into())
    }

    /// These hooks, narrowed to one handler of that plugin, or a built-in one.
    fn narrowed(&self, plugin: Option<Arc<PluginName>>, handler: Arc<str>) -> Self {
        let bit = plugin.as_ref().map_or(0, |name| name.bit());
        let names = plugin.into_iter().collect();
        let bits = ScopeBits::single(bit, names, handler, self.clone());
        Self { bits: Some(Arc::new(bits)), ..self.clone() }
    }

    /// These hooks with those values, which their handlers see too.
    pub(super) fn carrying(&self, values: Arc<Values>) -> Self {
        let hooks = |hooks: &Self| Self { values: Some(values), ..hooks.clone() };
        match self.single() {
            None => hooks(self),
            Some((owner, single)) => hooks(&single.outer).narrowed(owner, Arc::clone(&single.name)),
        }
    }

    /// The one handler that is admitted, where it is one, with its plugin.
    fn single(&self) -> Option<(Option<Arc<PluginName>>, &SingleHandler)> {
        let bits = self.bits.as_ref()?;
        Some((bits.names.first().cloned(), bits.single.as_ref()?))
    }

    /// The hooks as what they call sees them.
    #[inline]
    pub(crate) fn for_handlers(&self) -> &Self {
        match &self.bits {
            None => self,
            Some(bits) => bits.single.as_ref().map_or(self, |single| single.outer.for_handlers()),
        }
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

//! The one type or name that a handler may be bound to.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::escape::escaped;

/// What a handler, or a run, is about: a type, or a name where no type exists.
///
/// ```
/// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
/// # use hooks_runtime::handler::Target;
/// # hook_points! { pub flow Call(String) -> String; }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let limit = on::<BeforeExecute<Call>>().name("limit").target_named("search");
/// hooks.register(limit.handler(|_: &mut FlowContext<Call>| ()))?;
/// assert_eq!(&*hooks.handlers_for(&Target::named("search"))[0].name, "limit");
/// assert!(hooks.handlers_for(&Target::of::<String>()).is_empty());
/// assert_eq!(Target::named("search").to_string(), "\"search\"");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Target(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    Type(TypeId, &'static str),
    Name(Arc<str>),
}

impl Target {
    /// The type `T`.
    pub fn of<T: 'static>() -> Self {
        Self(Kind::Type(TypeId::of::<T>(), std::any::type_name::<T>()))
    }

    /// Something known only by name.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self(Kind::Name(name.into()))
    }

    /// The name, if that is what it is known by.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Type(..) => None,
            Kind::Name(name) => Some(name),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Type(_, name) => f.write_str(name),
            // Quoted and escaped: a name may come from anywhere.
            Kind::Name(name) => write!(f, "{}", escaped(&format!("{name:?}"))),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Target {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, name) = match &self.0 {
            Kind::Type(_, name) => ("type", *name),
            Kind::Name(name) => ("name", &**name),
        };
        crate::wire::tagged(serializer, kind)?.with("name", name)?.end()
    }
}

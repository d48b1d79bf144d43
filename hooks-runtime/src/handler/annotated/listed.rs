//! What `handlers![…]` lists.
//!
//! An annotated function has a type of its name beside it, which has its
//! registration. A list imports the name as it stands, with the function, the
//! type, or both, next to a fallback that fills in what the import does not
//! bring. So a function without an annotation, and one that is not visible, each
//! have an error message of their own.

use crate::handler::registration::Registration;

/// What `#[hook_handler]` puts beside a function: its registration.
#[diagnostic::on_unimplemented(
    message = "this is not an annotated handler",
    label = "expected a function with `#[hook_handler(Point)]`",
    note = "put `#[hook_handler(Point)]` on the function, or register it as it is: \
            `hooks.register(on::<Point>().handler(f))`, or `.guard(f)` if it is a guard"
)]
pub trait Annotated {
    /// The registration.
    fn registration() -> Registration;
}

/// An entry, and whether its function can be seen.
pub struct Listed<const SEEN: bool>;

impl Listed<true> {
    /// The registration that is beside the function.
    pub fn registration<T: Annotated>(self) -> Registration {
        T::registration()
    }
}

impl Listed<false> {
    /// Nothing, where the type cannot be seen either.
    pub fn registration<T: Unseen>(self) -> Registration {
        T::registration()
    }
}

/// The type of an entry whose function cannot be seen: none either.
#[diagnostic::on_unimplemented(
    message = "this handler is private to its module",
    label = "the function is not visible here",
    note = "make the function `pub(crate)`, or list it in a function of its own module"
)]
pub trait Unseen {
    /// Never called: the name was an error already.
    fn registration() -> Registration;
}

#[diagnostic::do_not_recommend]
impl Unseen for fallback::__without_annotation {
    fn registration() -> Registration {
        unreachable!("a name that does not exist does not compile")
    }
}

/// Whether the function of an entry can be seen: `match Sight::Seen { name => … }`
/// binds where the name is that of a function, and compares where it is the
/// fallback's constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It can.
    Seen,
    /// It cannot.
    Unseen,
}

/// What an entry is where its name brings nothing.
pub mod fallback {
    use super::Sight;

    /// The type of an entry without an annotation.
    #[allow(non_camel_case_types)]
    pub enum __without_annotation {}

    /// The function of an entry that cannot be seen.
    #[allow(non_upper_case_globals)]
    pub const __without_annotation: Sight = Sight::Unseen;
}

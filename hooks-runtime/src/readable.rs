//! `Debug` of errors. A program whose `main` returns an error, or that unwraps one,
//! prints that form, so it is for people: the text of the error and what caused it.
//! `{:#?}` has the structure.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use crate::engine::containment::shown;
use crate::escape::escaped;

/// Writes the text of an error, then the sources that the text before does not end
/// with.
pub(crate) fn write(
    f: &mut Formatter<'_>,
    text: &dyn Display,
    mut source: Option<&(dyn Error + 'static)>,
) -> fmt::Result {
    let mut said = text.to_string();
    f.write_str(&said)?;
    while let Some(cause) = source {
        // Of the user's code, as is its text.
        let text = escaped(&shown(&cause)).to_string();
        if !said.ends_with(&text) {
            write!(f, "\n  caused by: {text}")?;
        }
        said = text;
        source = cause.source();
    }
    Ok(())
}

/// `Debug` of an error type, whose shape is repeated for `{:#?}`: the compiler refuses
/// one that leaves out a variant or a field. `as` names a function that has another
/// text than `Display`.
macro_rules! readable_debug {
    (struct $type:ident $(($($item:ident),+))? $({$($field:ident),+ $(,)?})?) => {
        impl ::std::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                if !f.alternate() {
                    return $crate::readable::write(f, self, ::std::error::Error::source(self));
                }
                let Self $(($($item),+))? $({$($field),+})? = self;
                $crate::readable::structure!(f, $type $(($($item),+))? $({$($field),+})?)
            }
        }
    };
    (enum $type:ident {
        $($variant:ident $(($($item:ident),+))? $({$($field:ident),+ $(,)?})?),+ $(,)?
    }) => {
        $crate::readable::readable_debug! {
            enum $type as ::std::convert::identity {
                $($variant $(($($item),+))? $({$($field),+})?),+
            }
        }
    };
    (enum $type:ident as $text:path {
        $($variant:ident $(($($item:ident),+))? $({$($field:ident),+ $(,)?})?),+ $(,)?
    }) => {
        impl ::std::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                if !f.alternate() {
                    let source = ::std::error::Error::source(self);
                    return $crate::readable::write(f, &$text(self), source);
                }
                match self {
                    $(Self::$variant $(($($item),+))? $({$($field),+})? => {
                        $crate::readable::structure!(
                            f, $variant $(($($item),+))? $({$($field),+})?
                        )
                    })+
                }
            }
        }
    };
}

/// What `derive(Debug)` would write.
macro_rules! structure {
    ($f:ident, $name:ident) => {
        $f.write_str(stringify!($name))
    };
    ($f:ident, $name:ident ($($item:ident),+)) => {
        $f.debug_tuple(stringify!($name))$(.field($item))+.finish()
    };
    ($f:ident, $name:ident {$($field:ident),+}) => {
        $f.debug_struct(stringify!($name))$(.field(stringify!($field), $field))+.finish()
    };
}

pub(crate) use {readable_debug, structure};

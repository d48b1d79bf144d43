//! The failure policy, as the `on_failure` key spells it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use crate::suggest;

/// What becomes of a fire when a handler fails.
#[derive(Clone, Copy)]
pub(crate) enum Policy {
    Open,
    Closed,
}

impl Policy {
    /// Reads `"open"` or `"closed"`.
    pub(crate) fn parse(literal: &LitStr) -> syn::Result<Self> {
        match literal.value().as_str() {
            "open" => Ok(Self::Open),
            "closed" => Ok(Self::Closed),
            other => Err(syn::Error::new(
                literal.span(),
                format!(
                    "unknown failure policy `{other}`: {}",
                    suggest::hint(other, &["open", "closed"])
                ),
            )),
        }
    }

    /// The path of the runtime's variant.
    pub(crate) fn expand(self, rt: &TokenStream) -> TokenStream {
        match self {
            Self::Open => quote!(#rt::__private::FailurePolicy::Open),
            Self::Closed => quote!(#rt::__private::FailurePolicy::Closed),
        }
    }
}

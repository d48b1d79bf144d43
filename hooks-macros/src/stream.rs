//! Runs a reader over tokens.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser as _};

/// Lets `read` have the tokens and returns what it made of them. The reader
/// reports its mistakes itself; what it leaves unread is left on purpose, so
/// the parser's own complaint about leftovers would only repeat it.
pub(crate) fn read<T: Default>(tokens: TokenStream, read: impl FnOnce(ParseStream) -> T) -> T {
    let mut made = None;
    let parser = |input: ParseStream| {
        made = Some(read(input));
        Ok(())
    };
    parser.parse2(tokens).ok();
    made.unwrap_or_default()
}

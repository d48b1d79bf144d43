//! Reads the block: its header, its marked methods, and the tokens that go
//! out again. Bodies are passed on unread.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::{ItemImpl, Meta};

use super::model::{BlockArguments, DraftBlock, Method};
use crate::errors::Errors;
use crate::hook_handler;
use crate::keys::{self, Known};
use crate::runtime;

const KEYS: Known = Known { all: &["plugin", "crate"], repeatable: &[] };

/// Reads arguments and block.
pub(crate) fn parse(arguments: TokenStream, item: TokenStream, errors: &mut Errors) -> DraftBlock {
    let arguments = block_arguments(arguments, errors);
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let mut methods = Vec::new();
    let mut header = None;
    if let Some(TokenTree::Group(body)) = tokens.last()
        && body.delimiter() == Delimiter::Brace
    {
        header = read_header(&tokens[..tokens.len() - 1]);
        if header.is_some() {
            let body = read_body(body, &mut methods, errors);
            tokens.pop();
            tokens.push(TokenTree::Group(body));
        }
    }
    if header.is_none() {
        let at = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        errors.push(at, "`#[hook_handlers]` goes on an impl block");
    }
    DraftBlock { arguments, item: tokens.into_iter().collect(), header, methods }
}

fn block_arguments(tokens: TokenStream, errors: &mut Errors) -> BlockArguments {
    let mut arguments = BlockArguments::default();
    keys::parse_tokens(tokens, &KEYS, errors, |key, input, _| {
        if key == "plugin" {
            arguments.plugin = Some(hook_handler::plugin(input)?);
        } else {
            arguments.krate = Some(runtime::parse(input)?);
        }
        Ok(())
    });
    arguments
}

/// Reads all before the braces, as a block without contents.
fn read_header(tokens: &[TokenTree]) -> Option<ItemImpl> {
    let empty = TokenTree::Group(Group::new(Delimiter::Brace, TokenStream::new()));
    syn::parse2(tokens.iter().cloned().chain([empty]).collect()).ok()
}

/// Walks over the items of the block, takes the marks off and reads the
/// methods that carry them.
fn read_body(body: &Group, methods: &mut Vec<Method>, errors: &mut Errors) -> Group {
    let mut out = TokenStream::new();
    let mut item = Item::default();
    let mut tokens = body.stream().into_iter().peekable();
    while let Some(token) = tokens.next() {
        if is_punct(&token, '#')
            && let Some(TokenTree::Group(group)) = tokens.peek()
            && let Some(mark) = as_mark(group)
        {
            if item.marks.is_empty() {
                out.extend(hook_handler::dictated(mark.at));
            }
            item.marks.push(mark);
            tokens.next();
            continue;
        }
        out.extend([token.clone()]);
        // An item ends with its braces or with a semicolon. What stands in
        // braces before that, as in a constant's value, starts no mark.
        let ends = is_punct(&token, ';')
            || matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        if ends {
            std::mem::take(&mut item).finish(methods, errors);
        } else {
            item.head.extend([token]);
        }
    }
    item.finish(methods, errors);
    let mut group = Group::new(Delimiter::Brace, out);
    group.set_span(body.span());
    group
}

/// An item of the block up to its body.
#[derive(Default)]
struct Item {
    marks: Vec<Mark>,
    head: TokenStream,
}

struct Mark {
    at: Span,
    arguments: TokenStream,
}

impl Item {
    fn finish(self, methods: &mut Vec<Method>, errors: &mut Errors) {
        let mut marks = self.marks.into_iter();
        let Some(mark) = marks.next() else { return };
        for extra in marks {
            errors.push(
                extra.at,
                "a method handles one point: write a second method that calls this one",
            );
        }
        let arguments = hook_handler::arguments(mark.arguments, errors);
        let draft = hook_handler::function(self.head, errors);
        methods.extend(draft.map(|draft| Method { arguments, draft }));
    }
}

fn as_mark(group: &Group) -> Option<Mark> {
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let meta: Meta = syn::parse2(group.stream()).ok()?;
    let name = &meta.path().segments.last()?.ident;
    if name != "hook_handler" {
        return None;
    }
    let arguments = match &meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    Some(Mark { at: name.span(), arguments })
}

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

//! Reads the block: its header, its marked methods, and the tokens that go
//! out again. Bodies are passed on unread.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::{ItemImpl, Meta};

use super::model::{BlockArguments, DraftBlock, DraftStep, Method, StepKind};
use crate::errors::Errors;
use crate::hook_handler;
use crate::keys::{self, Known};
use crate::runtime;

const KEYS: Known = Known { all: &["plugin", "version", "description", "crate"], repeatable: &[] };

/// Reads arguments and block.
pub(crate) fn parse(arguments: TokenStream, item: TokenStream, errors: &mut Errors) -> DraftBlock {
    let arguments = block_arguments(arguments, errors);
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let mut marked = Marked::default();
    let mut header = None;
    if let Some(TokenTree::Group(body)) = tokens.last()
        && body.delimiter() == Delimiter::Brace
    {
        header = read_header(&tokens[..tokens.len() - 1]);
        if header.is_some() {
            let body = read_body(body, &mut marked, errors);
            tokens.pop();
            tokens.push(TokenTree::Group(body));
        }
    }
    if header.is_none() {
        let at = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        errors.push(at, "`#[hook_handlers]` goes on an impl block");
    }
    let Marked { methods, steps, has_handler_mark } = marked;
    let item = tokens.into_iter().collect();
    DraftBlock { arguments, item, header, methods, steps, has_handler_mark }
}

fn block_arguments(tokens: TokenStream, errors: &mut Errors) -> BlockArguments {
    let mut arguments = BlockArguments::default();
    keys::parse_tokens(tokens, &KEYS, errors, |key, input, _| {
        match key.to_string().as_str() {
            "plugin" => {
                arguments.names_a_plugin = true;
                arguments.plugin = Some(hook_handler::plugin(input)?);
            }
            "version" => {
                arguments.version = Some(keys::constant(input, "version = \"1.2.0\"")?);
            }
            "description" => {
                let description = keys::constant(input, "description = \"what it is for\"")?;
                arguments.description = Some(description);
            }
            _ => arguments.krate = Some(runtime::parse(input)?),
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
fn read_body(body: &Group, marked: &mut Marked, errors: &mut Errors) -> Group {
    let mut out = TokenStream::new();
    let mut item = Item::default();
    let mut tokens = body.stream().into_iter().peekable();
    while let Some(token) = tokens.next() {
        if is_punct(&token, '#')
            && let Some(TokenTree::Group(group)) = tokens.peek()
            && let Some(mark) = as_mark(group, errors)
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
            std::mem::take(&mut item).finish(marked, errors);
        } else {
            item.head.extend([token]);
        }
    }
    item.finish(marked, errors);
    let mut group = Group::new(Delimiter::Brace, out);
    group.set_span(body.span());
    group
}

/// What is marked in a block.
#[derive(Default)]
struct Marked {
    methods: Vec<Method>,
    steps: Vec<DraftStep>,
    has_handler_mark: bool,
}

/// An item of the block up to its body.
#[derive(Default)]
struct Item {
    marks: Vec<Mark>,
    head: TokenStream,
}

struct Mark {
    at: Span,
    kind: MarkKind,
}

enum MarkKind {
    Handler(TokenStream),
    Step(StepKind),
}

impl Item {
    fn finish(self, marked: &mut Marked, errors: &mut Errors) {
        let is_handler = |mark: &Mark| matches!(mark.kind, MarkKind::Handler(_));
        let handlers = self.marks.iter().filter(|mark| is_handler(mark)).count();
        marked.has_handler_mark |= handlers > 0;
        let is_mixed = handlers > 0 && handlers < self.marks.len();
        let mut marks = self.marks.into_iter();
        let Some(Mark { at, kind }) = marks.next() else { return };
        for extra in marks {
            let message = match (&kind, &extra.kind) {
                (MarkKind::Handler(_), MarkKind::Handler(_)) => {
                    "a method handles one point: write a second method that calls this one"
                }
                _ => "a method has one mark: write a second method that calls this one",
            };
            errors.push(extra.at, message);
        }
        // A signature cannot suit both, and what is wrong is reported.
        if is_mixed {
            return;
        }
        match kind {
            MarkKind::Handler(arguments) => {
                let arguments = hook_handler::arguments(arguments, errors);
                let draft = hook_handler::function(self.head, "hook_handler", errors);
                marked.methods.extend(draft.map(|draft| Method { arguments, draft }));
            }
            MarkKind::Step(kind) => {
                let draft = hook_handler::function(self.head, kind.word(), errors);
                marked.steps.extend(draft.map(|draft| DraftStep { kind, at, draft }));
            }
        }
    }
}

fn as_mark(group: &Group, errors: &mut Errors) -> Option<Mark> {
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let meta: Meta = syn::parse2(group.stream()).ok()?;
    let name = &meta.path().segments.last()?.ident;
    let at = name.span();
    let kind = if name == "hook_handler" {
        MarkKind::Handler(match &meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        })
    } else {
        // Only the bare word: a path names an attribute of another crate.
        let steps = [StepKind::Start, StepKind::Stop];
        let kind = steps.into_iter().find(|kind| meta.path().is_ident(kind.word()))?;
        if !matches!(meta, Meta::Path(_)) {
            errors.push(at, format!("`#[{}]` has no options: write it alone", kind.word()));
        }
        MarkKind::Step(kind)
    };
    Some(Mark { at, kind })
}

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

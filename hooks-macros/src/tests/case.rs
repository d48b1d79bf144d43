//! Default wire names.

use proc_macro2::{Ident, Span};

use crate::case::snake;

#[test]
fn identifiers_become_snake_case() {
    let cases = [
        ("OrderPlaced", "order_placed"),
        ("HTTPServer", "http_server"),
        ("ParseURL", "parse_url"),
        ("Http2Server", "http2_server"),
        ("BeforeXMLParse", "before_xml_parse"),
        ("A", "a"),
        ("AB", "ab"),
        ("already_snake", "already_snake"),
        ("With_Underscore", "with_underscore"),
    ];
    for (ident, expected) in cases {
        assert_eq!(snake(&Ident::new(ident, Span::call_site())), expected);
    }
}

#[test]
fn raw_identifiers_lose_their_mark() {
    assert_eq!(snake(&Ident::new_raw("Type", Span::call_site())), "type");
}

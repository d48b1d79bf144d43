//! Addresses that handlers post to, as far as their text tells.

/// Whether a text is an address that can be posted to as it is written.
pub(super) fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        let (authority, _) = split(rest);
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        plain && !authority.is_empty() && !authority.starts_with(':') && !authority.contains('@')
    })
}

/// What a handler behind an address is called: the last part of its path, as a script is by
/// its file, or the host.
pub(crate) fn name(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (authority, path) = split(rest);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').find(|part| !part.is_empty());
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let typed = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let typed = |char| if typed(char) { char } else { '-' };
    last.unwrap_or(host).chars().map(typed).collect()
}

/// The host with its port, and what is behind that.
fn split(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_other_texts() {
        for address in ["http://localhost", "https://hooks.example.com:8443/gate?x=1"] {
            assert!(is_address(address), "{address}");
        }
        let others = [
            "",
            "localhost:9000",
            "ftp://a/b",
            "http://",
            "http:///gate",
            "http://:9000/",
            "https://me@hooks.example.com/",
            "http://a b/",
            "http://a/\n",
            "HTTP//a",
        ];
        for other in others {
            assert!(!is_address(other), "{other}");
        }
    }

    #[test]
    fn a_name_can_be_typed() {
        for (address, expected) in [
            ("http://localhost:9000/hooks/gate", "gate"),
            ("http://localhost:9000/hooks/gate/?key=1", "gate"),
            ("http://localhost:9000", "localhost"),
            ("https://hooks.example.com/", "hooks.example.com"),
            ("http://localhost/a%20b*", "a-20b-"),
        ] {
            assert_eq!(name(address), expected, "{address}");
        }
    }
}

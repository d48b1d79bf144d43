//! Who is answered, and who may change something.

mod support;

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use hooks_inspect::Token;
use serde_json::{Value, json};
use support::{App, Host, TOKEN, changing, request};

fn disable() -> Value {
    json!({ "target": "ordered:stats/count", "change": "disable", "by": "ops", "why": "noise" })
}

const CHANGES: [(&str, &str); 3] =
    [("POST", "/api/settings"), ("DELETE", "/api/settings/1"), ("POST", "/api/breakers/reset")];

const READS: [&str; 6] = [
    "/",
    "/api/state",
    "/api/audit",
    "/api/schema",
    "/api/explain?target=paying:limit",
    "/api/nothing",
];

#[tokio::test]
async fn a_change_needs_the_token() {
    let host = Host::new();
    let app = host.app();
    for (method, path) in CHANGES {
        for shown in [
            None,
            Some(String::new()),
            Some(TOKEN.to_owned()),
            Some("Bearer".to_owned()),
            Some("Bearer ".to_owned()),
            Some("Bearer wrong-but-of-some-length".to_owned()),
            Some(format!("Bearer {}", &TOKEN[1..])),
            Some(format!("Bearer {TOKEN}x")),
            Some(format!("Basic {TOKEN}")),
        ] {
            let mut change = request(method, path).header(header::CONTENT_TYPE, "application/json");
            if let Some(shown) = &shown {
                change = change.header(header::AUTHORIZATION, shown);
            }
            let answer = app.send(change.body(disable().to_string().into()).unwrap()).await;
            assert_eq!(answer.refusal(), (401, "unauthorized".to_owned()), "{path} {shown:?}");
            assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer");
        }
        // The right one and another: which of them counts is not guessed.
        let twice = changing(method, path).header(header::AUTHORIZATION, "Bearer another");
        let answer = app.send(twice.body(disable().to_string().into()).unwrap()).await;
        assert_eq!(answer.refusal(), (401, "unauthorized".to_owned()));
    }
    assert!(host.hooks.operator().settings().is_empty());
    assert_eq!(app.change("POST", "/api/settings", &disable()).await.status, 201);
    assert_eq!(host.hooks.operator().settings().len(), 1);
}

#[tokio::test]
async fn without_an_operator_the_page_only_reads() {
    let host = Host::new();
    let app = App(host.reading().router());
    for (method, path) in CHANGES {
        let answer = app.change(method, path, &disable()).await;
        assert_eq!(answer.refusal(), (403, "reads_only".to_owned()), "{path}");
        let said = "this page only reads: its host gave it no operator";
        assert_eq!(answer.json()["message"], said);
    }
    assert_eq!(app.get("/api/state").await.json()["writable"], false);
    assert_eq!(host.app().get("/api/state").await.json()["writable"], true);
    assert!(host.hooks.operator().settings().is_empty());
}

#[tokio::test]
async fn get_and_head_change_nothing() {
    let host = Host::new();
    let app = host.app();
    host.hooks.operator().disable("ordered:*").by("ops").apply().unwrap();
    for method in ["GET", "HEAD", "OPTIONS", "PUT", "PATCH"] {
        for (_, path) in CHANGES {
            let body = disable().to_string();
            let answer = app.send(changing(method, path).body(body.into()).unwrap()).await;
            assert_eq!(answer.status, 405, "{method} {path}");
        }
    }
    for path in READS {
        for method in ["GET", "HEAD"] {
            app.send(changing(method, path).body(Body::empty()).unwrap()).await;
        }
        let answer = app.send(changing("POST", path).body(Body::empty()).unwrap()).await;
        assert!([404, 405].contains(&answer.status.as_u16()), "{path}");
    }
    let settings = host.hooks.operator().settings();
    assert_eq!(settings.len(), 1);
    assert_eq!(settings[0].by(), Some("ops"));
}

#[tokio::test]
async fn pages_of_other_origins_are_not_answered() {
    let host = Host::new();
    let app = host.app();
    let foreign = [
        (header::ORIGIN.as_str(), "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:4001"),
        ("origin", "http://127.0.0.1"),
        ("origin", "http://localhost:4000"),
        ("origin", "http://127.0.0.1:4000.evil.example"),
        ("origin", "http://evil@127.0.0.1:4000"),
        ("origin", "ftp://127.0.0.1:4000"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ];
    for (name, value) in foreign {
        for path in READS {
            let asked = request("GET", path).header(name, value).body(Body::empty()).unwrap();
            let answer = app.send(asked).await;
            assert_eq!(answer.refusal(), (403, "refused".to_owned()), "{path} {name}: {value}");
        }
        let change = changing("POST", "/api/settings").header(name, value);
        let answer = app.send(change.body(disable().to_string().into()).unwrap()).await;
        assert_eq!(answer.refusal(), (403, "refused".to_owned()), "{name}: {value}");
    }
    assert!(host.hooks.operator().settings().is_empty());
    for (name, value) in [
        ("origin", "http://127.0.0.1:4000"),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "none"),
    ] {
        let change = changing("POST", "/api/settings").header(name, value);
        let answer = app.send(change.body(disable().to_string().into()).unwrap()).await;
        assert_eq!(answer.status, 201, "{name}: {value}");
    }
}

#[tokio::test]
async fn a_name_that_leads_here_is_not_answered() {
    let host = Host::new();
    let app = host.app();
    let status = async |app: &App, host: &str| {
        let asked = Request::builder().uri("/api/state").header(header::HOST, host);
        app.send(asked.body(Body::empty()).unwrap()).await.status.as_u16()
    };
    for known in
        ["localhost", "LOCALHOST:80", "127.0.0.1", "127.9.9.9:1", "[::1]:4000", "a.localhost"]
    {
        assert_eq!(status(&app, known).await, 200, "{known}");
    }
    for unknown in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil-localhost",
        "192.168.0.7",
        "0.0.0.0",
        "[2001:db8::1]",
    ] {
        assert_eq!(status(&app, unknown).await, 403, "{unknown}");
    }
    for wrong in ["", "a b", "evil@localhost", "localhost:80:80"] {
        assert_eq!(status(&app, wrong).await, 400, "{wrong}");
    }
    let none = Request::builder().uri("/api/state").body(Body::empty()).unwrap();
    assert_eq!(app.send(none).await.refusal(), (400, "bad_request".to_owned()));

    let named = App(host.inspector().allow_host("Hooks.example.com").router());
    assert_eq!(status(&named, "hooks.example.com:8443").await, 200);
    assert_eq!(status(&named, "example.com").await, 403);
    // Where other machines are answered, an address is no name that could lead elsewhere.
    let remote = App(host.inspector().allow_remote().router());
    assert_eq!(status(&remote, "192.168.0.7:4000").await, 200);
    assert_eq!(status(&remote, "evil.example").await, 403);
}

#[tokio::test]
async fn other_machines_are_not_answered() {
    let host = Host::new();
    let from = |peer: &str| {
        let peer: SocketAddr = peer.parse().unwrap();
        request("GET", "/api/state").extension(ConnectInfo(peer)).body(Body::empty()).unwrap()
    };
    let app = host.app();
    for near in ["127.0.0.1:5", "127.1.2.3:5", "[::1]:5", "[::ffff:127.0.0.1]:5"] {
        assert_eq!(app.send(from(near)).await.status, 200, "{near}");
    }
    for far in ["192.168.0.9:5", "[2001:db8::1]:5", "[::ffff:10.0.0.1]:5", "0.0.0.0:5"] {
        let answer = app.send(from(far)).await;
        assert_eq!(answer.refusal(), (403, "refused".to_owned()), "{far}");
    }
    let remote = App(host.inspector().allow_remote().router());
    assert_eq!(remote.send(from("192.168.0.9:5")).await.status, 200);
}

#[tokio::test]
async fn every_answer_is_marked() {
    let host = Host::new();
    let app = host.app();
    for path in READS {
        for host in ["127.0.0.1", "evil.example"] {
            let asked = Request::builder().uri(path).header(header::HOST, host);
            let answer = app.send(asked.body(Body::empty()).unwrap()).await;
            let marked = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
            assert_eq!(marked("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(marked("referrer-policy"), "no-referrer");
            assert_eq!(marked("cache-control"), "no-store");
            let policy = marked("content-security-policy");
            assert!(policy.starts_with("default-src 'none'; "), "{policy}");
            assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        }
    }
}

#[tokio::test]
async fn only_the_script_and_style_of_the_page_run() {
    let app = Host::new().app();
    let mut nonces = Vec::new();
    for _ in 0..2 {
        let answer = app.get("/").await;
        assert_eq!(answer.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        let nonce = policy.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert_eq!(nonce.len(), 32);
        assert_eq!(
            policy,
            format!(
                "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
                 connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
        );
        assert_eq!(answer.body.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        // What is inline and has no nonce would not run; what is from elsewhere would not load.
        for absent in
            [" style=\"", " onclick=", "src=\"", "{nonce}", "{script}", "{style}", "innerHTML"]
        {
            assert!(!answer.body.contains(absent), "{absent}");
        }
        nonces.push(nonce.to_owned());
    }
    assert_ne!(nonces[0], nonces[1]);
}

#[tokio::test]
async fn a_change_is_json_and_not_too_long() {
    let host = Host::new();
    let app = host.app();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
        for (method, path) in CHANGES {
            let change = request(method, path)
                .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
                .header(header::CONTENT_TYPE, kind);
            let answer = app.send(change.body(disable().to_string().into()).unwrap()).await;
            assert_eq!(answer.refusal(), (415, "wrong_type".to_owned()), "{kind}");
        }
    }
    let charset = request("POST", "/api/settings")
        .header(header::AUTHORIZATION, format!("bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, "Application/JSON; charset=utf-8");
    let answer = app.send(charset.body(disable().to_string().into()).unwrap()).await;
    assert_eq!(answer.status, 201);

    let mut long = disable();
    long["why"] = "x".repeat(20_000).into();
    for path in ["/api/settings", "/api/breakers/reset"] {
        let answer = app.change("POST", path, &long).await;
        assert_eq!(answer.refusal(), (413, "too_large".to_owned()));
    }
    assert_eq!(host.hooks.operator().settings().len(), 1);
}

#[test]
fn tokens_are_hidden_and_not_short() {
    let token = Token::new(TOKEN).unwrap();
    assert_eq!(format!("{token:?}"), "Token(…)");
    let inspector = format!("{:?}", Host::new().inspector());
    assert!(!inspector.contains(TOKEN), "{inspector}");
    assert_eq!(
        Token::new("fifteen-letters").unwrap_err().to_string(),
        "a token has at least 16 characters, this one has 15: `Token::generate()` makes one",
    );
    for unprintable in ["with a space in it", "with-ä-letter-in-it", "with-a-line\n-break-in-it"] {
        assert!(Token::new(unprintable).is_err(), "{unprintable}");
    }
}

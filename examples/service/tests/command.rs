//! The command itself: it prints its address, serves, and ends well at a Ctrl-C.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use tempfile::TempDir;

#[test]
fn the_command_prints_its_address_serves_and_ends() {
    let folder = TempDir::new().expect("a folder");
    let (file, journal) = (folder.path().join("service.toml"), folder.path().join("orders.jsonl"));
    let text = include_str!("../service.toml")
        .replace("127.0.0.1:8080", "127.0.0.1:0")
        .replace("target/orders.jsonl", &journal.display().to_string());
    std::fs::write(&file, text).expect("a file");
    let mut service = Command::new(env!("CARGO_BIN_EXE_hooks-service"))
        .arg(file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = BufReader::new(service.stdout.take().expect("an output"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    let address = line.trim_end().strip_prefix("listening on ").expect("an address");

    let order = ureq::post(format!("{address}/orders"))
        .header("authorization", "Bearer alpha")
        .header("content-type", "application/json")
        .send(r#"{"item": "lamp", "quantity": 1}"#);
    assert_eq!(order.expect("an answer").status(), 201);
    let metrics = ureq::get(format!("{address}/metrics")).call().expect("an answer");
    let metrics = metrics.into_body().read_to_string().expect("text");
    let counted = "hook_fires_total{point=\"route\",outcome=\"claimed\"} 1\n";
    assert!(metrics.contains(counted), "{metrics}");

    let id = service.id().to_string();
    let interrupt = Command::new("kill").args(["-INT", &id]).status().expect("kill starts");
    assert!(interrupt.success());
    assert!(service.wait().expect("an end").success());
    line.clear();
    said.read_to_string(&mut line).expect("the rest");
    assert_eq!(line, "all orders are written, all plugins have stopped\n");
    let journal = std::fs::read_to_string(journal).expect("a journal");
    assert_eq!(journal.lines().count(), 1);
}

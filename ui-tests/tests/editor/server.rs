//! One session with rust-analyzer over its standard streams.

use std::env;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// What a server answers while it is catching up with a change.
const CONTENT_MODIFIED: i64 = -32801;

/// A server with one file open.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    uri: String,
    text: String,
    last_id: u64,
}

impl Server {
    /// Starts rust-analyzer on the workspace and opens a file of this package
    /// with the given text, which need not be what is on disk.
    pub(crate) fn open(file: &str, text: &str) -> Self {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let workspace = package.parent().expect("the package is in the workspace");
        let mut child = Command::new("rust-analyzer")
            .current_dir(workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("rust-analyzer starts");
        let input = child.stdin.take().expect("it reads");
        let output = BufReader::new(child.stdout.take().expect("it writes"));
        let uri = format!("file://{}", package.join(file).display());
        let mut server = Self { child, input, output, uri, text: text.to_owned(), last_id: 0 };
        server.start(workspace);
        server
    }

    fn start(&mut self, workspace: &Path) {
        let root = format!("file://{}", workspace.display());
        self.request(
            "initialize",
            &json!({
                "processId": std::process::id(),
                "rootUri": root,
                "capabilities": {
                    "experimental": { "serverStatusNotification": true },
                    "textDocument": { "definition": { "linkSupport": true } },
                },
                "initializationOptions": {
                    "checkOnSave": false,
                    "cachePriming": { "enable": false },
                    "linkedProjects": [workspace.join("ui-tests/Cargo.toml")],
                },
            }),
        );
        self.notify("initialized", &json!({}));
        let document = json!({
            "uri": self.uri, "languageId": "rust", "version": 1, "text": self.text,
        });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        // Until then it knows no macros.
        loop {
            let message = self.receive();
            if message["method"] == "experimental/serverStatus"
                && message["params"]["quiescent"] == true
            {
                assert_eq!(message["params"]["health"], "ok", "{message}");
                return;
            }
            self.attend(&message);
        }
    }

    /// The number of the only line that has this text, from 0.
    pub(crate) fn line_of(&self, text: &str) -> u64 {
        let mut lines = (0..).zip(self.text.lines()).filter(|(_, line)| line.contains(text));
        let (number, _) = lines.next().unwrap_or_else(|| panic!("no line has `{text}`"));
        assert!(lines.next().is_none(), "several lines have `{text}`");
        number
    }

    /// The lines to which the name leads that follows `before`.
    pub(crate) fn definition(&mut self, before: &str, name: &str) -> Vec<u64> {
        let at = self.text.find(&format!("{before}{name}")).expect("the name is in the text");
        let params = self.position(at + before.len());
        let found = self.ask("textDocument/definition", &params);
        let places = found.as_array().expect("a list of places");
        let mut lines: Vec<u64> = places
            .iter()
            .filter(|place| place["targetUri"] == self.uri)
            .filter_map(|place| place["targetSelectionRange"]["start"]["line"].as_u64())
            .collect();
        assert_eq!(lines.len(), places.len(), "`{name}` leads out of the file: {found}");
        lines.dedup();
        lines
    }

    /// What is offered behind the text.
    pub(crate) fn completions(&mut self, text: &str) -> Vec<String> {
        let at = self.text.find(text).expect("the text is there") + text.len();
        let params = self.position(at);
        let found = self.ask("textDocument/completion", &params);
        let items = found["items"].as_array().or(found.as_array()).expect("a list of offers");
        items.iter().filter_map(|item| item["label"].as_str()).map(first_word).collect()
    }

    fn position(&self, at: usize) -> Value {
        let before = &self.text[..at];
        let line = before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        json!({
            "textDocument": { "uri": self.uri },
            "position": { "line": line, "character": column },
        })
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        loop {
            let answer = self.request(method, params);
            if answer["error"]["code"].as_i64() == Some(CONTENT_MODIFIED) {
                continue;
            }
            assert!(answer["error"].is_null(), "{answer}");
            return answer["result"].clone();
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            self.attend(&message);
        }
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Answers what the server asks of an editor: with nothing, which it accepts.
    fn attend(&mut self, message: &Value) {
        if !message["id"].is_null() && !message["method"].is_null() {
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
        }
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("it answers");
            assert!(read > 0, "rust-analyzer ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", bytes)) => length = bytes.parse().expect("a length"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("it answers");
        serde_json::from_slice(&body).expect("it speaks JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A label may go on with the signature of what it offers.
fn first_word(label: &str) -> String {
    label.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

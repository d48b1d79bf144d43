//! A real browser, which is asked and steered by way of its debugging pipe: keys and
//! clicks are those of a person, not events that a script makes up.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The browser reads commands from its third and writes answers to its fourth file.
const START: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";

/// How long a page may take for what is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser with one tab. A call that fails, and a page whose script fails, panic: it is
/// for tests.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    calls: u64,
    session: Option<String>,
    events: Vec<Value>,
    /// Where the browser keeps what it remembers; removed with it.
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser that the variable `CHROMIUM` names, with an empty tab.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start() -> Self {
        let browser = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
        let profile = TempDir::new().expect("a profile");
        let mut process = Command::new("sh")
            .args(["-c", START])
            .arg(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let commands = process.stdin.take().expect("it reads");
        let answers = BufReader::new(process.stdout.take().expect("it writes"));
        let (session, events) = (None, Vec::new());
        let mut browser =
            Self { process, commands, answers, calls: 0, session, events, _profile: profile };
        let tab = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let tab = json!({ "targetId": tab["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &tab);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        browser.call("Page.enable", &json!({}));
        browser.call("Runtime.enable", &json!({}));
        browser.call("Log.enable", &json!({}));
        browser
    }

    /// Opens the file in a window of that width.
    pub fn open(&mut self, file: &Path, hash: &str, width: u32) {
        self.visit(&format!("file://{}{hash}", file.display()), width);
    }

    /// Opens the address in a window of that width.
    pub fn visit(&mut self, url: &str, width: u32) {
        self.resize(width, 900);
        // A mere change of what is behind `#` loads nothing.
        self.load("about:blank");
        self.load(url);
    }

    /// Gives the window that size.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Has pages prefer dark colours, or light ones.
    pub fn set_dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// The window as a picture: PNG, in base64.
    pub fn picture(&mut self) -> String {
        let taken = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        taken["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression in the page is true.
    ///
    /// # Panics
    /// If it is not within twenty seconds.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.eval(&format!("Boolean({expression})")) != Value::Bool(true) {
            let page = self.eval("document.body.innerText");
            assert!(Instant::now() < until, "never true: {expression}\n{page}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The texts of scripts that failed, and of what the page was refused, since it was
    /// opened.
    pub fn complaints(&mut self) -> Vec<String> {
        // Events come with the answer to a call.
        self.eval("1");
        let of_page = |event: &&Value| {
            event["method"] == "Runtime.exceptionThrown" || event["method"] == "Log.entryAdded"
        };
        self.events.iter().filter(of_page).map(ToString::to_string).collect()
    }

    /// Whether scripts run in pages that are opened from now on.
    pub fn set_scripts(&mut self, run: bool) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({ "value": !run }));
    }

    fn load(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", &json!({ "url": url }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push(event);
        }
        let thrown = |event: &&Value| event["method"] == "Runtime.exceptionThrown";
        assert_eq!(self.events.iter().find(thrown), None, "a script of the page failed");
    }

    /// The value of an expression in the page.
    ///
    /// # Panics
    /// If it throws.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &asked);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].take()
    }

    /// Presses a key: a letter, or a key by its name.
    pub fn key(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "ArrowUp" => (38, ""),
            "ArrowDown" => (40, ""),
            letter => (0, letter),
        };
        let down = json!({
            "type": if text.is_empty() { "rawKeyDown" } else { "keyDown" },
            "key": key, "text": text, "windowsVirtualKeyCode": code,
        });
        self.call("Input.dispatchKeyEvent", &down);
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", &up);
    }

    /// Presses the keys of these letters.
    pub fn keys(&mut self, letters: &str) {
        letters.chars().for_each(|letter| self.key(&letter.to_string()));
    }

    /// Clicks the middle of the element.
    pub fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const element = document.querySelector('{selector}'); \
             element.scrollIntoView({{ block: 'nearest' }}); \
             const box = element.getBoundingClientRect(); \
             return {{ x: box.x + box.width / 2, y: box.y + box.height / 2 }}; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({
                "type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", &click);
        }
    }

    /// Chooses from a list.
    pub fn choose(&mut self, list: &str, value: &str) {
        self.eval(&format!(
            "(() => {{ const list = document.getElementById('{list}'); list.value = '{value}'; \
             list.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        ));
    }

    /// Calls a method of the debugging protocol.
    ///
    /// # Panics
    /// If the browser refuses it, or has ended.
    #[track_caller]
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.calls += 1;
        let mut command = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        write!(self.commands, "{command}\0").expect("the browser reads");
        loop {
            let mut message = self.receive();
            if message["id"] == self.calls {
                assert_eq!(message["error"], Value::Null, "{method}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    fn receive(&mut self) -> Value {
        let mut message = Vec::new();
        self.answers.read_until(0, &mut message).expect("the browser writes");
        let ended = "the browser starts, and does not end; CHROMIUM says where it is";
        assert_eq!(message.pop(), Some(0), "{ended}");
        serde_json::from_slice(&message).expect("JSON")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closed in its own way, so that it ends its own processes too.
        self.session = None;
        let _ = write!(self.commands, "{}\0", json!({ "id": 0, "method": "Browser.close" }));
        let _ = self.process.wait();
    }
}

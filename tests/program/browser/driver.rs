//! A small client of the `WebDriver` protocol: it starts Chromium without a window and drives it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser with one page.
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

/// Returns a program of the search path.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = names
        .iter()
        .flat_map(|n| folders.iter().map(move |f| f.join(n)));
    all.into_iter().find(|p| p.is_file())
}

impl Browser {
    /// Starts a browser; fails with the reason if there is none.
    pub(super) fn start() -> Result<Self, String> {
        let driver = program(&["chromedriver"]).ok_or("chromedriver is not installed")?;
        let chromium = program(&["chromium", "chromium-browser", "google-chrome"]);
        let chromium = chromium.ok_or("Chromium is not installed")?;
        let profile = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        let output = driver.stdout.take().ok_or("no output")?;
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let rest = line.split_once("successfully on port ")?.1;
            rest.trim_end_matches('.').parse().ok()
        });
        // The rest of the output is read, so that the driver never waits for its reader.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Self {
            driver,
            port: port.ok_or("chromedriver did not start")?,
            session: String::new(),
            _profile: profile,
        };
        let arguments = [
            "--headless=new",
            // Containers and the super-user have no sandbox. The page is our own, and loads nothing.
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": chromium, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let made = browser.request("POST", "/session", &wanted)?;
        made["sessionId"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut browser.session);
        browser.cdp(
            "Emulation.setFocusEmulationEnabled",
            &json!({"enabled": true}),
        );
        Ok(browser)
    }

    /// Sends a request; fails with what the driver reports.
    fn request(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let body = body.to_string();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        let failed = |e: std::io::Error| format!("{method} {path}: {e}");
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(failed)?;
        stream
            .write_all((head + &body).as_bytes())
            .map_err(failed)?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).map_err(failed)?;
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).map_err(failed)?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|e| e.to_string())?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{path}: {error}: {}", answer["value"]["message"])),
            None => Ok(answer["value"].clone()),
        }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        self.request("POST", &path, body)
            .expect("an answer of the browser")
    }

    /// Opens a page, perhaps at a place of it.
    pub(super) fn open(&self, page: &Path, place: &str) {
        // Only another page is loaded anew; a place of the same page is not.
        self.post("/url", &json!({"url": "about:blank"}));
        self.post(
            "/url",
            &json!({"url": format!("file://{}{place}", page.display())}),
        );
    }

    /// Runs the body of a function in the page, and returns what it returns.
    pub(super) fn script(&self, body: &str) -> Value {
        self.post("/execute/sync", &json!({"script": body, "args": []}))
    }

    /// Runs a script that ends by calling its last argument.
    pub(super) fn script_async(&self, body: &str) -> Value {
        self.post("/execute/async", &json!({"script": body, "args": []}))
    }

    /// Waits until an expression is true; scripts of the page run meanwhile.
    pub(super) fn wait_for(&self, expression: &str) {
        let body = format!(
            "const done = arguments[0]; const end = Date.now() + 10000; \
             const look = () => ({expression}) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20); look();"
        );
        assert_eq!(self.script_async(&body), true, "{expression}");
    }

    /// Waits until the page no longer scrolls: a click on something that moves may miss it.
    pub(super) fn wait_for_rest(&self) {
        self.wait_for(
            "(window.still = window.lastY === scrollY ? (window.still || 0) + 1 : 0, \
             window.lastY = scrollY, window.still > 10)",
        );
    }

    /// Clicks on what a selector finds.
    pub(super) fn click(&self, selector: &str) {
        let element = self.post(
            "/element",
            &json!({"using": "css selector", "value": selector}),
        );
        let id = element
            .as_object()
            .and_then(|e| e.values().next()?.as_str());
        let id = id.expect("an element").to_owned();
        self.script(&format!(
            "document.querySelector({selector:?}).scrollIntoView({{block: 'center', behavior: 'instant'}})"
        ));
        self.post(&format!("/element/{id}/click"), &json!({}));
    }

    /// Types keys, each a character or a code of `WebDriver`.
    pub(super) fn keys(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key.to_string()}))
            })
            .collect();
        self.post(
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]}),
        );
    }

    /// Sends a command of the browser's own protocol.
    pub(super) fn cdp(&self, command: &str, parameters: &Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        )
    }

    /// Sets the size of the page, and whether it is dark.
    pub(super) fn look(&self, width: u32, height: u32, dark: bool) {
        let phone = width < 600;
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": if phone { 2 } else { 1 }, "mobile": phone}),
        );
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]);
        self.cdp("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Writes a picture of what is seen.
    pub(super) fn picture(&self, path: &Path) {
        let path_of = format!("/session/{}/screenshot", self.session);
        let data = self
            .request("GET", &path_of, &json!({}))
            .expect("a picture");
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(data.as_str().unwrap_or_default())
            .expect("base64");
        fs_err::write(path, bytes).expect("the picture");
    }

    /// Returns the errors that the page reported, and the addresses that it asked for, since the last time.
    pub(super) fn complaints(&self) -> Vec<String> {
        let console = self.post("/se/log", &json!({"type": "browser"}));
        let severe = console.as_array().into_iter().flatten();
        let severe = severe.filter(|e| e["level"] == "SEVERE" || e["level"] == "WARNING");
        let mut out: Vec<String> = severe.map(|e| e["message"].to_string()).collect();
        let network = self.post("/se/log", &json!({"type": "performance"}));
        for entry in network.as_array().into_iter().flatten() {
            let text = entry["message"].as_str().unwrap_or_default();
            let event: Value = serde_json::from_str(text).unwrap_or_default();
            let event = &event["message"];
            let url = event["params"]["request"]["url"]
                .as_str()
                .unwrap_or_default();
            let is_own = ["file:", "data:", "about:", "chrome:"]
                .iter()
                .any(|s| url.starts_with(s));
            if event["method"] == "Network.requestWillBeSent" && !is_own {
                out.push(format!("asked for {url}"));
            }
        }
        out
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.request("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

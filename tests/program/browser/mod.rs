//! Exported pages in a real browser.
//!
//! Debian's packages `chromium` and `chromium-driver` are enough. Pictures are written to `target/browser`.

mod accessible;
mod driver;
mod hostile;
mod working;

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::{Home, SESSION, Transcript, skipped};
use driver::Browser;

/// Starts a browser, or reports that the test is skipped.
fn browser(test: &str) -> Option<Browser> {
    match Browser::start() {
        Ok(browser) => Some(browser),
        Err(why) => {
            skipped(test, &why);
            None
        }
    }
}

/// Returns the folder for pictures and for what is fetched once.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser");
    fs_err::create_dir_all(&folder).unwrap();
    folder
}

/// Exports the session of a home as a page.
fn page(home: &Home, arguments: &[&str]) -> PathBuf {
    let words = [
        &["export", SESSION, "--force", "-o", "page.html"],
        arguments,
    ]
    .concat();
    let run = home.run(&words);
    assert_eq!(run.code, 0, "{run:?}");
    home.project().join("page.html")
}

/// An image of one grey dot.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// A session with one of everything that a page shows.
fn talk(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("Why do the maps change their order?\nIt worked yesterday.")
        .thinking("The order of a hash map is **random**.")
        .answer("# Cause\n\nThe map's *order* is random, see [the docs](https://example.com).\n\n| map | order |\n|---|--:|\n| `HashMap` | 1 |\n\n```rust\n// A sorted map.\nlet map: BTreeMap<u32, &str> = [(1, \"a\")].into();\n```\n\n- first\n- second")
        .call("toolu_1", "Bash", &json!({"command": "cargo test --quiet # all of them"}))
        .result("toolu_1", "running 2 tests\n\u{1b}[31mFAILED\u{1b}[0m maps::order\n\u{1b}[1;32mok\u{1b}[0m maps::len")
        .call("toolu_2", "Edit", &json!({"file_path": "/w/a.rs", "old_string": "use HashMap;\nlet a = 1;\n", "new_string": "use BTreeMap;\nlet a = 1;\n"}))
        .result("toolu_2", "The file was changed.")
        .answer("Fixed: the order is the one of the keys.")
        .user(
            json!({"role": "user", "content": [
                {"type": "text", "text": "What is in this picture?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DOT}},
            ]}),
            json!({}),
        )
        .answer("A grey dot.")
        .compaction("Summary: the maps were **sorted**.", json!({"trigger": "manual", "preTokens": 9000}))
        .prompt("Thanks, and pineapple")
        .answer("You are welcome.")
        .title("Maps that change their order")
}

//! No script of a session ever runs, wherever in the session it is.

use serde_json::{Value, json};

use super::{browser, page};
use crate::harness::{Home, SESSION, Transcript};

/// Texts that run a script in pages that do not escape them.
const INJECTIONS: [&str; 22] = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "</style><script>window.pwned = 1</script>",
    "</title><script>window.pwned = 1</script>",
    "</pre></code></details><script>window.pwned = 1</script>",
    "<img src=x onerror=\"window.pwned = 1\">",
    "\"><img src=x onerror=window.pwned=1>",
    "' onmouseover='window.pwned=1' x='",
    "\" onfocus=\"window.pwned=1\" autofocus x=\"",
    "<svg onload=window.pwned=1>",
    "<svg><script>window.pwned=1</script></svg>",
    "<iframe srcdoc=\"<script>parent.pwned=1</script>\"></iframe>",
    "<iframe src=\"javascript:parent.pwned=1\"></iframe>",
    "<object data=\"data:text/html,<script>window.pwned=1</script>\"></object>",
    "<meta http-equiv=refresh content=\"0;url=https://example.com/\">",
    "<base href=\"https://example.com/\">",
    "<link rel=stylesheet href=https://example.com/x.css>",
    "<form action=https://example.com/><button>go</button></form>",
    "[click](javascript:window.pwned=1) ![x](https://example.com/x.png) <javascript:window.pwned=1>",
    "[click](data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==) [b](JaVa\tScRiPt:window.pwned=1)",
    "```\"><script>window.pwned=1</script>\n<script>window.pwned=1</script>\n```",
    "| <script>window.pwned=1</script> | `</code><script>window.pwned=1</script>` |\n|---|---|\n| &lt;script&gt;window.pwned=1&lt;/script&gt; | \u{1b}[31m<script>window.pwned=1</script>\u{1b}[0m |",
];

/// A session with a text in every place that a page shows.
fn everywhere(home: &Home, text: &str) -> Transcript {
    home.start(SESSION)
        .prompt(text)
        .thinking(text)
        .answer(text)
        .call("toolu_1", "Bash", &json!({"command": text, text: text}))
        .result("toolu_1", text)
        .call(&format!("toolu_2{text}"), text, &json!({"input": [text]}))
        .result(&format!("toolu_2{text}"), text)
        .call("toolu_3", "Edit", &json!({"file_path": text, "old_string": text, "new_string": format!("{text}2")}))
        .result("toolu_3", text)
        .call("toolu_4", "TodoWrite", &json!({"todos": [{"content": text, "status": text, "activeForm": text}]}))
        .result("toolu_4", text)
        .user(
            json!({"role": "user", "content": [
                {"type": "text", "text": text},
                {"type": "image", "source": {"type": "base64", "media_type": format!("image/{text}"), "data": text}},
                {"type": "document", "title": text, "source": {"type": "base64", "media_type": text, "data": "AAAA"}},
            ]}),
            json!({}),
        )
        .attachment(json!({"type": "queued_command", "prompt": text}))
        .chain(json!({"type": "system", "subtype": text, "content": text}))
        .compaction(text, json!({"trigger": text, "preTokens": 9}))
        .prompt(&format!("# {text}"))
        .chain(json!({"type": "assistant", "message": {
            "id": "msg_hostile", "role": "assistant", "type": "message", "model": text, "stop_reason": null,
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 5000, "output_tokens": 1},
        }}))
        .title(text)
}

#[test]
fn browser_runs_no_script_of_a_session() {
    let Some(browser) = browser("browser") else {
        return;
    };
    let home = Home::new();
    // Open everything, point at everything, and see whether anything but the page's own markup is there.
    let look = r#"
        const done = arguments[0];
        document.querySelectorAll("details").forEach((d) => (d.open = true));
        const all = Array.from(document.querySelectorAll("*"));
        for (const e of all) {
            e.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
            e.dispatchEvent(new Event("focus"));
        }
        setTimeout(() => done({
            pwned: "pwned" in window,
            scripts: document.scripts.length,
            handlers: all.filter((e) => e.getAttributeNames().some((n) => n.startsWith("on"))).length,
            foreign: all.filter((e) => e.matches("iframe, object, embed, base, link, form, meta[http-equiv=refresh]")).length,
            links: Array.from(document.links).filter((a) => !/^(https?|file):/.test(a.href)).map((a) => a.href),
            sources: Array.from(document.images).filter((i) => !i.src.startsWith("data:image/")).length,
            place: location.protocol,
        }), 60);
    "#;
    let clean = json!({"pwned": false, "scripts": 1, "handlers": 0, "foreign": 0, "links": [], "sources": 0, "place": "file:"});
    for (n, text) in INJECTIONS.iter().enumerate() {
        home.add(&everywhere(&home, text));
        let page = page(&home, &["--branches"]);
        browser.open(&page, "");
        let seen: Value = browser.script_async(look);
        assert_eq!(seen, clean, "{text}");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{text}");
        if n == 0 {
            let items = browser.script("return document.querySelectorAll('.item').length");
            assert!(items.as_u64().unwrap() > 12, "{items}");
        }
    }
    eprintln!("{} injections in every place; none ran", INJECTIONS.len());
}

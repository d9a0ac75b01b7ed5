//! What a reader does with a page.

use serde_json::{Value, json};

use super::{browser, folder, page, report, talk};
use crate::harness::Home;

const ESCAPE: &str = "\u{e00c}";

#[test]
fn browser_page_can_be_filtered_searched_and_linked_to() {
    let Some(browser) = browser("browser") else {
        return;
    };
    let home = Home::new();
    home.add(&talk(&home));
    let page = page(&home, &[]);
    browser.cdp(
        "Browser.grantPermissions",
        &json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}),
    );
    browser.look(1200, 900, false);
    browser.open(&page, "");
    let count = |selector: &str| {
        let body = format!(
            "return Array.from(document.querySelectorAll({selector:?})).filter(e => e.checkVisibility()).length"
        );
        browser.script(&body).as_u64().unwrap()
    };

    assert_eq!(count(".tools"), 1);
    assert_eq!(count(".item.prompt"), 3);
    browser.click("[data-filter=prompt]");
    assert_eq!(count(".item.prompt"), 0);
    assert!(count(".item.answer") > 2);
    browser.click("[data-filter=prompt]");
    assert_eq!(count(".item.prompt"), 3);

    browser.click("#fold");
    assert_eq!(
        browser.script("return document.querySelectorAll('main details[open]').length"),
        0
    );
    browser.click("#unfold");
    assert_eq!(
        browser.script("return document.querySelectorAll('main details:not([open])').length"),
        0
    );
    browser.click("#fold");
    browser.click("details.call summary");
    assert_eq!(count("details.call[open] pre"), 2);

    browser.script("document.body.focus(); scrollTo(0, 0)");
    browser.keys("/");
    browser.keys("PineApple");
    browser.wait_for("document.getElementById('found').textContent === '1 turn'");
    assert_eq!(count("main > .turn"), 1);
    browser.keys(ESCAPE);
    browser.wait_for("document.querySelectorAll('main > .turn[data-off]').length === 0");
    browser.keys("/maps::len");
    browser.wait_for("document.querySelector('details.call').open");
    browser.keys(ESCAPE);

    browser.script("scrollTo({top: 0, behavior: 'instant'})");
    browser.keys("jj");
    browser.wait_for("scrollY > 200");
    browser.keys("kk");
    browser.wait_for("scrollY < 800");

    browser.wait_for_rest();
    browser.click(".item.answer .link");
    browser.wait_for("document.getElementById('found').textContent === 'Link copied'");
    let link = browser.script_async("navigator.clipboard.readText().then(arguments[0])");
    let link = link.as_str().unwrap();
    let place = link.find("#m-").map(|at| &link[at..]).unwrap();
    assert_eq!(browser.complaints(), Vec::<String>::new());

    browser.open(&page, place);
    let id = &place[1..];
    browser.wait_for(&format!(
        "document.getElementById('{id}').getBoundingClientRect().top < innerHeight"
    ));
    let call =
        browser.script("return document.querySelector('details.call pre').closest('details').id");
    browser.open(&page, &format!("#{}", call.as_str().unwrap()));
    browser.wait_for(&format!("document.getElementById({call}).open"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn browser_page_reads_without_scripts() {
    let Some(browser) = browser("browser") else {
        return;
    };
    let home = Home::new();
    home.add(&talk(&home));
    let page = page(&home, &[]);
    browser.cdp(
        "Emulation.setScriptExecutionDisabled",
        &json!({"value": true}),
    );
    browser.look(1200, 900, false);
    browser.open(&page, "#turn-2");
    // Only the protocol itself can still look into the page.
    let looked = |expression: &str| -> Value {
        let answer = browser.cdp(
            "Runtime.evaluate",
            &json!({"expression": expression, "returnByValue": true}),
        );
        answer["result"]["value"].clone()
    };
    assert_eq!(
        looked("document.querySelector('.tools').checkVisibility()"),
        false
    );
    assert_eq!(
        looked("document.querySelectorAll('.item.prompt').length"),
        3
    );
    assert_eq!(
        looked("document.getElementById('turn-2').getBoundingClientRect().top < innerHeight"),
        true
    );
    assert_eq!(
        looked("document.querySelector('.item.answer').innerText.includes('order is random')"),
        true
    );
    assert_eq!(looked("document.querySelectorAll('nav a').length"), 3);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn browser_pictures_of_a_page_fit_phones_and_desktops() {
    let Some(browser) = browser("browser") else {
        return;
    };
    let home = Home::new();
    home.add(&talk(&home));
    let page = page(&home, &[]);
    for (name, width, height) in [("phone", 390, 844), ("desktop", 1280, 900)] {
        for dark in [false, true] {
            browser.look(width, height, dark);
            browser.open(&page, "");
            let overflow =
                browser.script("return document.documentElement.scrollWidth - innerWidth");
            assert!(
                overflow.as_i64().unwrap() <= 0,
                "{name}: {overflow} too wide"
            );
            let back = browser.script("return getComputedStyle(document.body).backgroundColor");
            assert_eq!(back == "rgb(255, 255, 255)", !dark, "{back}");
            let theme = if dark { "dark" } else { "light" };
            browser.picture(&folder().join(format!("{name}-{theme}.png")));
            browser.script("document.getElementById('unfold').click(); document.getElementById('turn-1').scrollIntoView({behavior: 'instant'})");
            browser.picture(&folder().join(format!("{name}-{theme}-open.png")));
        }
    }
    browser.look(1280, 1400, false);
    browser.open(&report(&home), "");
    browser.picture(&folder().join("report.png"));
    browser.open(&page, "");
    browser.cdp("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    assert_eq!(
        browser.script("return document.querySelector('.tools').checkVisibility()"),
        false
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

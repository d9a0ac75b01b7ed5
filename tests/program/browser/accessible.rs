//! An audit of the page with axe-core, which is fetched once from npm.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{browser, folder, page, report, talk};
use crate::harness::{Home, skipped};

/// The audit's version, and the hash of its script.
const VERSION: &str = "4.10.3";
const HASH: &str = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb";

/// Returns the script of the audit; fails with the reason if it cannot be had.
fn axe() -> Result<String, String> {
    let folder = folder();
    let path: PathBuf = folder.join(format!("axe-{VERSION}.min.js"));
    if !path.exists() {
        let package = format!("axe-core@{VERSION}");
        let packed = Command::new("npm")
            .args(["pack", "--silent", &package])
            .current_dir(&folder)
            .stderr(Stdio::null())
            .output()
            .map_err(|e| format!("npm cannot be run: {e}"))?;
        let archive = String::from_utf8_lossy(&packed.stdout).trim().to_owned();
        if !packed.status.success() || archive.is_empty() {
            return Err(format!("npm cannot fetch {package}"));
        }
        let unpacked = Command::new("tar")
            .args(["-xzOf", &archive, "package/axe.min.js"])
            .current_dir(&folder)
            .output()
            .map_err(|e| format!("tar cannot be run: {e}"))?;
        fs_err::write(&path, unpacked.stdout).map_err(|e| e.to_string())?;
        let _ = fs_err::remove_file(folder.join(archive));
    }
    let text = fs_err::read_to_string(&path).map_err(|e| e.to_string())?;
    let hash = format!("{:x}", Sha256::digest(&text));
    assert_eq!(hash, HASH, "{} is not the pinned file", path.display());
    Ok(text)
}

#[test]
fn browser_page_has_no_serious_accessibility_findings() {
    let Some(browser) = browser("browser") else {
        return;
    };
    let axe = match axe() {
        Ok(axe) => axe,
        Err(why) => return skipped("browser-axe", &why),
    };
    let home = Home::new();
    home.add(&talk(&home));
    let looks = [(1280, false), (1280, true), (390, false), (390, true)];
    let pages = [page(&home, &[]), report(&home)];
    for (page, (width, dark)) in pages.iter().flat_map(|page| looks.map(|look| (page, look))) {
        browser.look(width, 900, dark);
        browser.open(page, "");
        browser.script("document.getElementById('unfold')?.click()");
        browser.script(&axe);
        let result = browser.script_async("axe.run().then(arguments[0])");
        let violations = result["violations"].as_array().cloned().unwrap_or_default();
        let serious = violations
            .iter()
            .filter(|v| v["impact"] == "serious" || v["impact"] == "critical");
        let serious: Vec<String> = serious
            .map(|v| {
                let nodes = v["nodes"].as_array().into_iter().flatten();
                let html: Vec<&Value> = nodes.map(|n| &n["html"]).take(3).collect();
                format!("{}: {} {html:?}", v["id"], v["help"])
            })
            .collect();
        assert_eq!(serious, Vec::<String>::new(), "width {width}, dark {dark}");
        let passes = result["passes"].as_array().map_or(0, Vec::len);
        assert!(passes > 12, "{passes}");
    }
}

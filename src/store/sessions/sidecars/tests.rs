use super::*;

const OLD: &str = "11111111-2222-4333-8444-555555555555";
const NEW: &str = "99999999-2222-4333-8444-555555555555";

struct World {
    root: tempfile::TempDir,
    config: Config,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let config = Config::new(root.path());
        Self { root, config }
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("projects/p")
    }

    fn write(&self, rest: &str, text: &str) {
        let path = self.root.path().join(rest);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn found(&self, id: &str, slugs: &[&str]) -> SessionFiles {
        let slugs: Vec<String> = slugs.iter().map(|&s| s.to_owned()).collect();
        let (config, folder) = (&self.config, self.folder());
        let places = SessionPlaces {
            config,
            folder: &folder,
            id,
        };
        places.files(&slugs).unwrap()
    }

    /// Every file as found, with the path it has in a copy.
    fn copied(&self, slugs: &[&str]) -> Vec<(String, String)> {
        let folder = self.folder();
        let at = |id| SessionPlaces {
            config: &self.config,
            folder: &folder,
            id,
        };
        let rest = |p: &Path| {
            let rest = p.strip_prefix(self.root.path()).unwrap();
            rest.to_str().unwrap().replace('\\', "/")
        };
        let owner = |f: &Sidecar| match f.kind {
            SidecarKind::Plan | SidecarKind::OldSubagent => format!("new-{}", f.owner),
            _ => NEW.to_owned(),
        };
        let files = self.found(OLD, slugs).files;
        let one = |f: &Sidecar| {
            let to = at(OLD).moved(f, &at(NEW), &owner(f)).unwrap();
            (rest(&f.path), rest(&to))
        };
        files.iter().map(one).collect()
    }
}

#[test]
fn sidecars_get_their_places_in_a_copy() {
    let world = World::new();
    let agent = format!("{{\"sessionId\":\"{OLD}\"}}\n");
    world.write("projects/p/agent-a.jsonl", &agent);
    world.write("projects/p/agent-b.jsonl", "{\"sessionId\":\"other\"}\n");
    world.write(&format!("tasks/{OLD}/a/1.json"), "{}");
    world.write(&format!("todos/{OLD}-agent-{OLD}.json"), "{}");
    world.write(&format!("todos/{OLD}-agent-a.json"), "{}");
    world.write(&format!("todos/{OLD}0-agent-a.json"), "{}");
    world.write(&format!("projects/p/{OLD}/tool-results/x.txt"), "x");
    let pairs = [
        (
            "projects/p/OLD/tool-results/x.txt",
            "projects/p/NEW/tool-results/x.txt",
        ),
        ("projects/p/agent-a.jsonl", "projects/p/agent-new-a.jsonl"),
        ("tasks/OLD/a/1.json", "tasks/NEW/a/1.json"),
        ("todos/OLD-agent-OLD.json", "todos/NEW-agent-NEW.json"),
        ("todos/OLD-agent-a.json", "todos/NEW-agent-a.json"),
    ];
    let named = |s: &str| s.replace("OLD", OLD).replace("NEW", NEW);
    let mut wanted: Vec<_> = pairs.iter().map(|(a, b)| (named(a), named(b))).collect();
    let mut found = world.copied(&[]);
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
}

#[test]
fn plans_of_slugs_that_begin_alike_are_told_apart() {
    let world = World::new();
    for name in [
        "fuzzy-cat.md",
        "fuzzy-cat-hat.md",
        "fuzzy-cat-agent-x.md",
        "fuzzy-cats.md",
    ] {
        world.write(&format!("plans/{name}"), "x");
    }
    let found = world.copied(&["fuzzy-cat", "fuzzy-cat-hat", "..", "a/b"]);
    let pair = |a: &str, b: &str| (format!("plans/{a}"), format!("plans/{b}"));
    assert_eq!(
        found,
        [
            pair("fuzzy-cat-agent-x.md", "new-fuzzy-cat-agent-x.md"),
            pair("fuzzy-cat-hat.md", "new-fuzzy-cat-hat.md"),
            pair("fuzzy-cat.md", "new-fuzzy-cat.md"),
        ]
    );
}

#[test]
fn session_id_of_dots_has_no_sidecars() {
    let world = World::new();
    world.write("projects/other/s.jsonl", "secret");
    world.write("projects/p/s.jsonl", "secret");
    for id in [".", "..", "../other", ""] {
        assert!(world.found(id, &[]).files.is_empty(), "{id}");
    }
}

#[cfg(unix)]
#[test]
fn sidecars_that_are_not_regular_files_are_skipped() {
    type Make = fn(&Path);
    let makers: [(&str, Make); 4] = [
        ("link", |p| {
            std::os::unix::fs::symlink("/etc/passwd", p).unwrap();
        }),
        ("dangling link", |p| {
            std::os::unix::fs::symlink("/nowhere", p).unwrap();
        }),
        ("pipe", |p| {
            let made = std::process::Command::new("mkfifo").arg(p).status();
            assert!(made.unwrap().success());
        }),
        ("socket", |p| {
            drop(std::os::unix::net::UnixListener::bind(p).unwrap());
        }),
    ];
    let places = [
        "projects/p/OLD".to_owned(),
        "projects/p/OLD/tool-results/x".to_owned(),
        "projects/p/OLD/subagents/agent-a.jsonl".to_owned(),
        "projects/p/agent-a.jsonl".to_owned(),
        "file-history/OLD".to_owned(),
        "file-history/OLD/x@v1".to_owned(),
        "tasks/OLD".to_owned(),
        "session-env/OLD".to_owned(),
        "todos/OLD-agent-a.json".to_owned(),
        "plans/slug.md".to_owned(),
    ];
    for (what, make) in makers {
        for place in &places {
            let world = World::new();
            // Short, because the path of a socket may not be long.
            let path = world.root.path().join(place.replace("OLD", "S"));
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            make(&path);
            let found = world.found("S", &["slug"]);
            assert!(found.files.is_empty(), "{what} at {place}");
            assert_eq!(found.skipped, [path], "{what} at {place}");
        }
    }
}

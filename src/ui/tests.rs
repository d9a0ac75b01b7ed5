//! Tests of the terminal interface without a terminal: keys go in, screens come out.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::render::{LocalZone, Presenter};
use crate::session::Session;
use crate::view::{Conversation, SessionRow, Subagent};

use super::*;

/// A host that reads one transcript and writes nothing.
struct Stage;

const PATH: &str = "/made/up/3f9c2a71.jsonl";

impl Host for Stage {
    fn list(&self, _: bool) -> Result<Vec<SessionRow>, String> {
        Ok(Vec::new())
    }

    fn open(&self, path: &Path) -> Result<Tree, String> {
        let bytes = include_bytes!("../../fixtures/demo.jsonl");
        let session = Arc::new(Session::from_bytes(bytes.to_vec()));
        let id = "3f9c2a71-5d0e-4b8a-9c64-1e7d52ab0c93".to_owned();
        Ok(Tree::of(session, path.to_owned(), id, Vec::new()))
    }

    fn agent(&self, tree: &Tree, id: &str) -> Result<Conversation, String> {
        match id {
            "known" => Ok(Conversation::of(&tree.session, "s", 1, 1)),
            _ => Err("there is no transcript of it".to_owned()),
        }
    }

    fn forecast(&self, _: &Tree, _: &Plan) -> Result<Totals, String> {
        Err("not tried".to_owned())
    }

    fn parse(&self, line: &str) -> Result<Step, String> {
        Ok(Step::new(line))
    }

    fn save(&self, file: &str, _: &str) -> Result<String, String> {
        Ok(file.to_owned())
    }

    fn preview(&self, _: &Tree, plan: &Plan, _: usize) -> Result<(String, bool), String> {
        Ok((format!("would {}", plan.operation()), false))
    }

    fn apply(&self, _: &Tree, plan: &Plan, in_place: bool) -> Result<Made, String> {
        Ok(Made {
            sentence: format!("Made by {}, in place: {in_place}.", plan.operation()),
            path: PATH.into(),
            resume: Some("claude --resume x".to_owned()),
            operation: "op1".to_owned(),
            ..Made::default()
        })
    }

    fn undo(&self, operation: &str) -> Result<String, String> {
        Ok(format!("Undone: {operation}."))
    }

    fn edit(&self, _: &str) -> Result<String, String> {
        Err("there is no editor".to_owned())
    }
}

fn look() -> Look {
    Look {
        presenter: Presenter::default(),
        colours: false,
        home: None,
        now: SystemTime::UNIX_EPOCH,
        zone: LocalZone::new(|| jiff::tz::TimeZone::UTC),
    }
}

/// The interface with a screen that can be read.
struct Screen {
    app: App,
    terminal: Terminal<TestBackend>,
    asked: Vec<Effect>,
}

impl Screen {
    fn new(columns: u16, rows: u16) -> Self {
        let app = App::new(look(), (columns, rows));
        let terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut screen = Self {
            app,
            terminal,
            asked: Vec::new(),
        };
        let effects = screen.app.open(PATH.into(), "Demo", 1000);
        screen.carry_out(effects);
        screen
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.asked.push(effect.clone());
            let tree = self.app.table.as_ref().map(|t| Arc::clone(&t.tree));
            if let Some(event) = carry_out(effect, tree.as_ref(), &Stage, &look()) {
                let more = self.app.update(event);
                self.carry_out(more);
            }
        }
    }

    /// Presses keys: letters, and names such as `<Enter>`.
    fn press(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let name = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
            let code = match name {
                Some((name, after)) => {
                    rest = after;
                    match name {
                        "Enter" => KeyCode::Enter,
                        "Esc" => KeyCode::Esc,
                        "Tab" => KeyCode::Tab,
                        other => panic!("no key {other}"),
                    }
                }
                None => {
                    rest = &rest[c.len_utf8()..];
                    KeyCode::Char(c)
                }
            };
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            let effects = self.app.update(Event::Key(key));
            self.carry_out(effects);
        }
    }

    fn text(&mut self) -> String {
        self.terminal.draw(|frame| self.app.draw(frame)).unwrap();
        let buffer = self.terminal.backend().buffer();
        let rows = buffer.content.chunks(usize::from(buffer.area.width));
        let rows = rows.map(|row| {
            let text: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
            text.trim_end().to_owned()
        });
        rows.collect::<Vec<_>>().join("\n")
    }

    fn table(&self) -> &Table {
        self.app.table.as_deref().unwrap()
    }
}

#[test]
fn ui_screens_at_80_by_24() {
    let mut screen = Screen::new(80, 24);
    insta::assert_snapshot!("table_80x24", screen.text());
    screen.press("?");
    insta::assert_snapshot!("help_80x24", screen.text());
    screen.press("<Esc>gc");
    insta::assert_snapshot!("digest_80x24", screen.text());
}

#[test]
fn ui_screens_at_120_by_40() {
    let mut screen = Screen::new(120, 40);
    screen.press("gLjjj");
    screen.press("tGd");
    insta::assert_snapshot!("marked_120x40", screen.text());
}

#[test]
fn ui_fits_any_size() {
    for (columns, rows) in [(1, 1), (10, 4), (40, 10), (71, 24), (72, 8), (300, 100)] {
        let mut screen = Screen::new(columns, rows);
        for keys in [
            "",
            "L",
            "?",
            "<Esc>/x<Enter>",
            "<Tab>",
            "<Tab>c",
            "<Esc>d<Enter>",
        ] {
            screen.press(keys);
            assert!(!screen.text().contains('\x1b'));
        }
    }
}

#[test]
fn ui_help_lists_every_key() {
    let mut screen = Screen::new(120, 80);
    screen.press("?");
    let text = screen.text();
    for (heading, keys) in KEYS {
        assert!(text.contains(heading), "{heading}");
        for (key, what) in keys {
            assert!(text.contains(key) && text.contains(what), "{key}: {what}");
        }
    }
    screen.press("x");
    assert!(screen.app.dialog.is_none() && screen.table().marks.is_empty());
}

#[test]
fn ui_help_is_the_same_as_in_the_documentation() {
    let document = include_str!("../../docs/ui.md");
    for (key, what) in KEYS.iter().flat_map(|(_, keys)| *keys) {
        let row = format!("| `{key}` | {what} |");
        assert!(document.contains(&row), "{row}");
    }
}

#[test]
fn ui_marks_become_commands() {
    let cases = [
        ("gd", "ccsurgery delete 3f9c2a71 --turns=1"),
        ("gvjd", "ccsurgery delete 3f9c2a71 --turns=1..2"),
        ("gx", "ccsurgery truncate 3f9c2a71 --at=1"),
        ("gt", "ccsurgery strip-thinking 3f9c2a71 --turns=1"),
        ("gc<Enter>", "ccsurgery compact 3f9c2a71 --at=1"),
        (":drop-hidden<Enter>", "ccsurgery drop-hidden 3f9c2a71"),
    ];
    for (keys, expected) in cases {
        let mut screen = Screen::new(100, 30);
        screen.press(keys);
        assert_eq!(screen.table().command(), expected, "{keys}");
        screen.press("u");
        assert!(screen.table().marks.is_empty(), "{keys}");
    }
}

#[test]
fn ui_marks_keep_to_an_order_in_which_turn_numbers_stay_right() {
    let mut screen = Screen::new(100, 30);
    screen.press("gdjtjjd");
    let steps = &screen.table().plan.steps;
    let names: Vec<String> = steps.iter().map(|s| s.words("s").join(" ")).collect();
    assert_eq!(
        names,
        [
            "strip-thinking s --turns=2",
            "delete s --turns=4",
            "delete s --turns=1"
        ]
    );
}

#[test]
fn ui_totals_follow_the_marks_at_once() {
    let mut screen = Screen::new(100, 30);
    let before = screen.table().before;
    screen.press("gd");
    let after = screen.table().after;
    let turn = screen
        .table()
        .tree
        .nodes
        .iter()
        .find(|n| n.turn == 1)
        .unwrap();
    assert_eq!(after.turns, before.turns - 1);
    assert_eq!(after.bytes, before.bytes - turn.bytes);
    assert!(before.tokens - after.tokens <= turn.tokens as u64 + 1);
    screen.press("d");
    assert_eq!(screen.table().after, before);
}

#[test]
fn ui_turn_tokens_are_those_of_show() {
    let screen = Screen::new(100, 30);
    let tree = &screen.table().tree;
    let list = crate::view::TurnList::of(&tree.session, "s", PATH.into());
    let turns = tree
        .nodes
        .iter()
        .filter(|n| n.kind == NodeKind::Turn && n.turn > 0);
    let ours: Vec<u64> = turns.map(|n| n.tokens as u64).collect();
    let rows = list.turn_rows.iter().filter(|r| r.turn > 0);
    assert_eq!(ours, rows.map(|r| r.tokens).collect::<Vec<_>>());
    assert_eq!((tree.window, tree.limit), (list.tokens, list.tokens_limit));
}

#[test]
fn ui_preview_then_new_session_then_undo() {
    let mut screen = Screen::new(100, 30);
    screen.press("<Enter>");
    assert_eq!(screen.app.view, View::Table, "nothing is marked");
    screen.press("gd<Enter>");
    assert_eq!(screen.app.view, View::Preview);
    assert!(screen.text().contains("would delete"));
    screen.press("<Enter>");
    assert_eq!(screen.app.view, View::Made);
    assert!(screen.text().contains("Made by delete, in place: false."));
    screen.press("u");
    assert!(screen.app.made.as_ref().unwrap().undone);
    screen.press("<Enter>");
    assert!(screen.table().marks.is_empty());
}

#[test]
fn ui_asks_before_it_rewrites_in_place() {
    let mut screen = Screen::new(100, 30);
    screen.press("gd<Enter>i");
    assert!(screen.text().contains("in place?"));
    screen.press("n");
    assert_eq!(screen.app.view, View::Preview);
    screen.press("iy");
    assert!(screen.text().contains("in place: true"));
}

#[test]
fn ui_asks_before_marks_are_forgotten() {
    let mut screen = Screen::new(100, 30);
    screen.press("gdq");
    assert!(screen.app.dialog.is_some());
    screen.press("n");
    assert!(!screen.table().marks.is_empty());
    screen.press("qy");
    assert!(screen.app.table.is_none());
}

#[test]
fn ui_search_and_filter_find_rows() {
    let mut screen = Screen::new(100, 30);
    screen.press("/test<Enter>");
    let (_, found) = screen.table().search.clone().unwrap();
    assert!(!found.is_empty());
    assert!(found.contains(&(screen.table().row().unwrap() as u32)));
    screen.press("ftool:bash<Enter>");
    let rows = &screen.table().filter.as_ref().unwrap().1;
    let kinds = rows
        .iter()
        .map(|r| screen.table().tree.nodes[*r as usize].kind);
    assert!(kinds.clone().count() > 0);
    assert!(
        kinds
            .into_iter()
            .all(|k| matches!(k, NodeKind::Call | NodeKind::Result))
    );
    screen.press("<Esc>");
    assert!(screen.table().filter.is_none());
}

#[test]
fn ui_pasted_text_is_no_command() {
    let mut screen = Screen::new(100, 30);
    drop(screen.app.update(Event::Paste("ddxq".to_owned())));
    assert!(screen.table().marks.is_empty());
    screen.press("/");
    drop(screen.app.update(Event::Paste("a\x1bb".to_owned())));
    assert!(screen.text().contains("search: ab"));
}

#[test]
fn ui_growth_is_noticed_and_marks_survive_it() {
    let mut screen = Screen::new(100, 30);
    screen.press("gd");
    drop(screen.app.update(Event::Grew));
    assert!(screen.text().contains("it has grown"));
    screen.press("R");
    assert!(!screen.table().grew);
    assert_eq!(
        screen.table().command(),
        "ccsurgery delete 3f9c2a71 --turns=1"
    );
}

#[test]
fn ui_asks_for_the_content_of_the_row_under_the_cursor_only_once() {
    let mut screen = Screen::new(100, 30);
    let reads = |s: &Screen| {
        s.asked
            .iter()
            .filter(|e| matches!(e, Effect::Read(..)))
            .count()
    };
    let before = reads(&screen);
    screen.press("k");
    assert_eq!(reads(&screen), before + 1);
    drop(screen.app.update(Event::Tick));
    assert_eq!(reads(&screen), before + 1);
}

/// Returns the rows of a kind, by their places among the visible ones.
fn places(screen: &Screen, kind: NodeKind) -> Vec<usize> {
    let table = screen.table();
    let rows = table.visible.iter().enumerate();
    let rows = rows.filter(|(_, row)| table.tree.nodes[**row as usize].kind == kind);
    rows.map(|(place, _)| place).collect()
}

/// Puts the cursor on a visible row.
fn go_to(screen: &mut Screen, place: usize) {
    screen.press("g");
    screen.press(&"j".repeat(place));
}

#[test]
fn ui_thinking_is_marked_by_block_message_and_turn() {
    let bytes = include_bytes!("../../fixtures/two_thoughts.jsonl");
    let session = Arc::new(Session::from_bytes(bytes.to_vec()));
    let tree = Tree::of(session, PATH.into(), "3f9c2a71".to_owned(), Vec::new());
    let mut screen = Screen::new(100, 30);
    screen.app.table = Some(Box::new(Table::new(Arc::new(tree))));
    screen.press("L");
    let thinking = places(&screen, NodeKind::Thinking);
    assert_eq!(thinking.len(), 3);
    go_to(&mut screen, thinking[0]);
    screen.press("t");
    let one = "ccsurgery strip-thinking 3f9c2a71 --message=aaaaaaaa";
    assert_eq!(screen.table().command(), one);
    assert_eq!(screen.table().marks.thinking.len(), 1);
    // With the second block, all thinking of the turn is marked.
    go_to(&mut screen, thinking[1]);
    screen.press("t");
    let turn = "ccsurgery strip-thinking 3f9c2a71 --turns=1";
    assert_eq!(screen.table().command(), turn);
    // A row without thinking stands for its message.
    screen.press("U");
    let calls = places(&screen, NodeKind::Call);
    go_to(&mut screen, calls[0]);
    screen.press("t");
    assert_eq!(screen.table().marks.thinking.len(), 1);
    screen.press("t");
    assert!(screen.table().marks.is_empty());
    screen.press("T");
    assert_eq!(screen.table().marks.thinking.len(), 3);
}

#[test]
fn ui_redact_is_a_mark_among_others() {
    let mut screen = Screen::new(100, 30);
    screen.press("r");
    assert_eq!(screen.table().command(), "ccsurgery redact 3f9c2a71");
    screen.press("gd");
    let steps = &screen.table().plan.steps;
    let names: Vec<&str> = steps.iter().map(|s| s.operation.as_str()).collect();
    assert_eq!(names, ["delete", "redact"], "secrets are replaced last");
    screen.press("<Enter>i");
    assert!(screen.app.dialog.is_none(), "in place is not offered");
    screen.press("<Esc>r");
    assert!(!screen.table().plan.redacts());
}

#[test]
fn ui_branches_and_subagents_unfold_to_what_happened_in_them() {
    let mut screen = Screen::new(100, 30);
    let agent = |id: &str| Subagent {
        agent_id: id.to_owned(),
        turn: Some(1),
        call_id: None,
        agent_type: "Explore".into(),
        description: "look around".into(),
        bytes: Some(1000),
        path: None,
    };
    let session = Arc::clone(&screen.table().tree.session);
    let agents = vec![agent("known"), agent("lost")];
    let tree = Tree::of(session, PATH.into(), "3f9c2a71".to_owned(), agents);
    let rows = tree.nodes.len();
    screen.app.table = Some(Box::new(Table::new(Arc::new(tree))));
    let agents = places(&screen, NodeKind::Subagent);
    go_to(&mut screen, agents[0]);
    screen.press("l");
    let asides = places(&screen, NodeKind::Aside);
    assert!(asides.len() > 2);
    assert!(screen.text().contains("▾     subagent Explore"));
    // Rows after it have moved, and everything still ends where it should.
    let table = screen.table();
    assert_eq!(table.tree.nodes.len(), rows + asides.len());
    assert_eq!(
        table.tree.nodes[table.row().unwrap()].end as usize,
        table.row().unwrap() + 1 + asides.len()
    );
    let last = places(&screen, NodeKind::Subagent)[1];
    assert_eq!(last, asides[asides.len() - 1] + 1);
    // They can be read, and not marked.
    screen.press("jd");
    assert!(screen.table().marks.is_empty());
    assert!(screen.text().contains("can only be read"));
    screen.press("hh");
    assert!(places(&screen, NodeKind::Aside).is_empty());
    screen.press("jl");
    assert!(screen.text().contains("there is no transcript of it"));
}

#[test]
fn ui_mouse_chooses_folds_marks_and_scrolls() {
    use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
    let mut screen = Screen::new(100, 30);
    screen.press("g");
    let mouse = |screen: &mut Screen, kind, (column, row): (u16, u16)| {
        let event = MouseEvent {
            kind,
            column,
            row,
            modifiers: KeyModifiers::NONE,
        };
        let effects = screen.app.update(Event::Mouse(event));
        screen.carry_out(effects);
    };
    let click = MouseEventKind::Down(MouseButton::Left);
    let lines: Vec<String> = screen.text().lines().map(str::to_owned).collect();
    let first = lines.iter().position(|line| line.contains("[ ]")).unwrap() as u16;
    // On the words of the second row, its fold, its mark, and its mark again.
    mouse(&mut screen, click, (12, first + 1));
    assert_eq!(screen.table().cursor, 1);
    let before = screen.table().visible.len();
    mouse(&mut screen, click, (0, first + 1));
    assert!(screen.table().visible.len() > before);
    mouse(&mut screen, click, (1, first + 1));
    assert_eq!(screen.table().visible.len(), before);
    mouse(&mut screen, click, (3, first + 1));
    assert_eq!(screen.table().marks.turns.len(), 1);
    mouse(&mut screen, click, (3, first + 1));
    assert!(screen.table().marks.is_empty());
    // The wheel moves in the tree, and scrolls the content.
    mouse(&mut screen, MouseEventKind::ScrollUp, (3, first));
    assert_eq!(screen.table().cursor, 0);
    mouse(&mut screen, MouseEventKind::ScrollDown, (95, first));
    assert_eq!((screen.table().cursor, screen.table().scroll), (0, 3));
    // Beside the rows and behind a dialog, a click does nothing.
    mouse(&mut screen, click, (3, 29));
    screen.press("?");
    mouse(&mut screen, click, (3, first + 1));
    assert!(screen.table().marks.is_empty() && screen.table().cursor == 0);
}

//! What each layer costs, on a made-up session of 8 MB: `cargo bench --bench layers`.

#![allow(missing_docs)]

#[allow(dead_code)]
mod session;

use std::sync::LazyLock;

use ccsurgery::doctor::examine;
use ccsurgery::document::Document;
use ccsurgery::json::Cursor;
use ccsurgery::ops::{DropTools, StripThinking};
use ccsurgery::session::Session;
use ccsurgery::surgery::{Detail, Renaming, Transform, emit, verify};
use ccsurgery::window::Calibration;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use session::{ID, Maker};
use uuid::Uuid;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    Maker::new(Vec::new())
        .turns(8 << 20)
        .expect("memory takes all")
});

static SESSION: LazyLock<Session> =
    LazyLock::new(|| Session::new(Document::from_bytes(BYTES.clone())));

fn main() {
    divan::main();
}

fn all(bencher: Bencher<'_, '_>, work: impl Fn() + Sync) {
    bencher.counter(BytesCount::new(BYTES.len())).bench(work);
}

#[divan::bench]
fn copy_in_memory(bencher: Bencher<'_, '_>) {
    all(bencher, || drop(black_box(BYTES.clone())));
}

#[divan::bench]
fn split_into_lines(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::new(BYTES.len()))
        .with_inputs(|| BYTES.clone())
        .bench_values(Document::from_bytes);
}

#[divan::bench]
fn read_as_json(bencher: Bencher<'_, '_>) {
    let document = SESSION.document();
    all(bencher, || {
        for i in 0..document.lines().len() {
            black_box(Cursor::new(document.text(i)).skip().is_ok());
        }
    });
}

#[divan::bench]
fn index(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::new(BYTES.len()))
        .with_inputs(|| SESSION.document().clone())
        .bench_values(Session::new);
}

#[divan::bench]
fn emit_as_it_is(bencher: Bencher<'_, '_>) {
    all(bencher, || {
        emit(&SESSION, None, &mut std::io::sink()).expect("a sink takes all");
    });
}

#[divan::bench]
fn rename_and_read_again(bencher: Bencher<'_, '_>) {
    let mut renames = Renaming::default();
    renames.id(ID, Uuid::from_u128(1));
    renames.session(ID, Uuid::from_u128(1));
    renames.main_entries(&SESSION);
    renames.mark_forks();
    all(bencher, || {
        emit(&SESSION, Some(&renames), &mut std::io::sink()).expect("a sink takes all");
    });
}

fn after(transform: &dyn Transform) -> Session {
    let mut plan = transform.plan(&SESSION, Detail::Full).expect("a plan");
    let (document, lines) = plan.apply(&SESSION).expect("a sound plan");
    SESSION.derived(document, &lines)
}

#[divan::bench]
fn plan_strip_thinking(bencher: Bencher<'_, '_>) {
    all(bencher, || {
        drop(black_box(after(&StripThinking::default())));
    });
}

#[divan::bench]
fn plan_drop_tools(bencher: Bencher<'_, '_>) {
    all(bencher, || drop(black_box(after(&DropTools::default()))));
}

#[divan::bench]
fn verify_result(bencher: Bencher<'_, '_>) {
    let after = after(&StripThinking::default());
    all(bencher, || {
        verify(&SESSION, &after).expect("a sound result");
    });
}

#[divan::bench]
fn examine_for_faults(bencher: Bencher<'_, '_>) {
    all(bencher, || drop(black_box(examine(&SESSION))));
}

#[divan::bench]
fn estimate_tokens(bencher: Bencher<'_, '_>) {
    all(bencher, || drop(black_box(Calibration::of(&SESSION))));
}

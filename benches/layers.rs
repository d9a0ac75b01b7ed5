//! What each layer costs, on a made-up session of 8 MB: `cargo bench --bench layers`.

#![allow(missing_docs, clippy::disallowed_methods)]

#[allow(dead_code)]
mod session;

use std::sync::LazyLock;

use ccsurgery::doctor::examine;
use ccsurgery::document::Document;
use ccsurgery::json::Cursor;
use ccsurgery::ops::{DropTools, StripThinking};
use ccsurgery::session::Session;
use ccsurgery::store::write_stream;
use ccsurgery::surgery::{CopyNames, FreshIds, Operated, Surgery, Transform, Verified};
use ccsurgery::window::Calibration;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use session::{ID, Maker, Shape};
use uuid::Uuid;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    Maker::new(Vec::new(), Shape::Mixed)
        .fill(8 << 20)
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
        for i in document.numbers() {
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
    let verified = untouched();
    all(bencher, || {
        write_stream(&mut std::io::sink(), &verified, None).expect("a sink takes all");
    });
}

#[divan::bench]
fn rename_and_read_again(bencher: Bencher<'_, '_>) {
    let names = CopyNames {
        old_id: ID.to_owned(),
        new_id: Uuid::from_u128(1),
        ..CopyNames::default()
    };
    let verified = untouched();
    let ids = FreshIds::for_copy(&names, verified.session());
    all(bencher, || {
        write_stream(&mut std::io::sink(), &verified, Some(&ids)).expect("a sink takes all");
    });
}

fn untouched() -> Verified {
    let operated = Surgery::on(Session::from_bytes(BYTES.clone())).operate();
    operated
        .expect("nothing is declined")
        .verify()
        .expect("nothing changed")
}

fn operate(transform: &dyn Transform) -> Operated {
    let session = Session::from_bytes(BYTES.clone());
    let surgery = Surgery::on(session).then(transform);
    surgery.operate().expect("it is not declined")
}

#[divan::bench]
fn plan_strip_thinking(bencher: Bencher<'_, '_>) {
    all(bencher, || {
        drop(black_box(operate(&StripThinking::default())));
    });
}

#[divan::bench]
fn plan_drop_tools(bencher: Bencher<'_, '_>) {
    all(bencher, || drop(black_box(operate(&DropTools::default()))));
}

#[divan::bench]
fn verify_result(bencher: Bencher<'_, '_>) {
    all(bencher, || {
        let operated = operate(&StripThinking::default());
        drop(black_box(operated.verify().expect("a sound result")));
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

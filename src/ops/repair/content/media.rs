//! Makes images smaller, corrects their kind, and replaces images and documents that cannot be read by a note.

use crate::doctor::checks::content::media::{self, ImageFault, Medium};
use crate::doctor::checks::content::{bad_document, large_image, not_an_image};
use crate::json::{Edit, encode};
use crate::session::Session;
use crate::surgery::{Action, Plan, Reach};

use super::super::RepairOptions;
use super::super::pass::Repair;
use super::put_note;
use super::shrink::shrink;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[
        &not_an_image::CHECK,
        &large_image::CHECK,
        &bad_document::CHECK,
    ],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    for (medium, fault) in media::faulty_images(session) {
        let check = match fault {
            ImageFault::NotAnImage | ImageFault::OtherKind(_) => &not_an_image::CHECK,
            ImageFault::Bytes(_) | ImageFault::Pixels(..) => &large_image::CHECK,
        };
        if options.wants(check) {
            repair_image(session, plan, &medium, &fault);
        }
    }
    if options.wants(&bad_document::CHECK) {
        for (medium, why) in media::faulty_documents(session) {
            let note = format!("[Document removed: {why}.]");
            note_instead(session, plan, &medium, &note);
        }
    }
}

fn repair_image(session: &Session, plan: &mut Plan, medium: &Medium, fault: &ImageFault) {
    let e = session.entry(medium.entry);
    let text = session.text(e);
    let made = match fault {
        ImageFault::NotAnImage => None,
        ImageFault::OtherKind(mime) => {
            let edits: Vec<Edit> = medium
                .media_type
                .map(|span| Edit::new(span, encode(mime)))
                .into_iter()
                .collect();
            plan.edit_line(e.line, edits);
            plan.note(session, e, Action::Edit, "kind of an image", 0, 0, "");
            return;
        }
        // The limit for sessions with many images is the lower one.
        ImageFault::Bytes(_) | ImageFault::Pixels(..) => media::bytes(text, medium)
            .and_then(|raw| shrink(&raw, media::MOST_PIXELS_OF_MANY, media::MOST_BYTES)),
    };
    let Some((data, mime)) = made else {
        note_instead(
            session,
            plan,
            medium,
            "[Image removed: it could not be read.]",
        );
        return;
    };
    let grown = data.len() as i64 + 2 - medium.data.len() as i64;
    let mut edits = vec![Edit::new(medium.data, format!("\"{data}\""))];
    edits.extend(medium.media_type.map(|span| Edit::new(span, encode(mime))));
    plan.edit_line(e.line, edits);
    plan.note(session, e, Action::Edit, "image made smaller", grown, 0, "");
}

fn note_instead(session: &Session, plan: &mut Plan, medium: &Medium, note: &str) {
    let what = "image or document";
    put_note(session, plan, medium.entry, medium.block, what, note);
}

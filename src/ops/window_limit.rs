//! Warns of a context window that models cannot hold.

use crate::human::tokens;
use crate::session::Session;
use crate::surgery::Plan;
use crate::window::Calibration;

/// The context window of most models, and of those with a long one, in tokens.
const LIMITS: [u64; 2] = [200_000, 1_000_000];

/// Reports how large the context window will be, and what to do if a model cannot hold it.
pub(super) fn warn_of_window(session: &Session, plan: &mut Plan) {
    let Ok((document, lines)) = plan.clone().apply(session) else {
        return;
    };
    let before = Calibration::of(session);
    let after = Calibration::of(&session.derived(document, &lines));
    let window = before.window_of(&after);
    if window > LIMITS[0] {
        let size = tokens(window);
        let holds = if window > LIMITS[1] {
            "no model holds that much"
        } else {
            "most models hold only 200k"
        };
        plan.warnings.push(format!(
            "the context window will be about {size}: {holds}. Make it smaller with: ccsurgery trim"
        ));
    }
}

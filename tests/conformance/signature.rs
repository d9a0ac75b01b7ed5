//! Signs thinking as the API does, so that a change to it shows.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

fn digest(salt: &str, text: &str) -> Vec<u8> {
    Sha256::new()
        .chain_update(salt)
        .chain_update(text)
        .finalize()
        .to_vec()
}

/// Signs a block of thinking that is `shown` to the client; `thought` is what the model thought,
/// which differs where the client asked for thinking to be left out.
pub(crate) fn sign(shown: &str, thought: &str) -> String {
    let mut bytes = digest("shown:", shown);
    bytes.extend(digest("thought:", thought));
    STANDARD.encode(bytes)
}

/// Whether this signature was given to thinking that read `shown`.
pub(crate) fn fits(signature: &str, shown: &str) -> bool {
    STANDARD
        .decode(signature)
        .is_ok_and(|bytes| bytes.len() == 64 && bytes.starts_with(&digest("shown:", shown)))
}

/// Seals a redacted thought; the text cannot be read back.
pub(crate) fn seal(thought: &str) -> String {
    let mut bytes = digest("redacted:", thought);
    let check = Sha256::digest(&bytes);
    bytes.extend(check);
    STANDARD.encode(bytes)
}

/// Whether [`seal`] made this.
pub(crate) fn sealed(data: &str) -> bool {
    STANDARD
        .decode(data)
        .is_ok_and(|bytes| bytes.len() == 64 && Sha256::digest(&bytes[..32])[..] == bytes[32..])
}

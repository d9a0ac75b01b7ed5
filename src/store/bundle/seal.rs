//! Encryption with a passphrase, in the format of age.

use std::io::{self, Read, Write};
use std::iter;

use age::secrecy::SecretString;

use super::error::BundleError;

/// The first bytes of an encrypted file.
pub(super) const HEADER: &[u8] = b"age-encryption.org/v1";

/// A passphrase. It is never shown, and wiped from memory at the end.
#[derive(Clone)]
pub struct Passphrase(SecretString);

impl Passphrase {
    /// Takes a passphrase.
    pub fn new(text: String) -> Self {
        Self(SecretString::from(text))
    }
}

/// Writes what is encrypted if there is a passphrase.
pub(super) enum Sealed<W: Write> {
    Open(W),
    Encrypted(age::stream::StreamWriter<W>),
}

impl<W: Write> Sealed<W> {
    pub(super) fn new(out: W, passphrase: Option<&Passphrase>) -> io::Result<Self> {
        Ok(match passphrase {
            None => Self::Open(out),
            Some(passphrase) => {
                let encryptor = age::Encryptor::with_user_passphrase(passphrase.0.clone());
                Self::Encrypted(encryptor.wrap_output(out)?)
            }
        })
    }

    /// Writes what is left to write.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Open(mut out) => out.flush().map(|()| out),
            Self::Encrypted(out) => out.finish(),
        }
    }
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Open(out) => out.write(bytes),
            Self::Encrypted(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Open(out) => out.flush(),
            Self::Encrypted(out) => out.flush(),
        }
    }
}

/// Decrypts what is encrypted. `passphrase` is asked for one only then.
pub(super) fn unsealed<'r>(
    input: impl Read + 'r,
    passphrase: impl FnOnce() -> Option<Passphrase>,
) -> Result<Box<dyn Read + 'r>, BundleError> {
    let mut input = input;
    let mut head = Vec::new();
    input
        .by_ref()
        .take(HEADER.len() as u64)
        .read_to_end(&mut head)?;
    let is_sealed = head == HEADER;
    let whole = io::Cursor::new(head).chain(input);
    if !is_sealed {
        return Ok(Box::new(whole));
    }
    let passphrase = passphrase().ok_or(BundleError::Encrypted)?;
    let locked = |e: age::DecryptError| BundleError::Locked(e.to_string());
    let decryptor = age::Decryptor::new(whole).map_err(locked)?;
    if !decryptor.is_scrypt() {
        let text = "it is encrypted for a key, not with a passphrase";
        return Err(BundleError::Locked(text.to_owned()));
    }
    let identity = age::scrypt::Identity::new(passphrase.0);
    let decrypted = decryptor.decrypt(iter::once(&identity as &dyn age::Identity));
    Ok(Box::new(decrypted.map_err(locked)?))
}

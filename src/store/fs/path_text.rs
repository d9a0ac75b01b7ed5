//! Writes paths to JSON without loss: as text where they are UTF-8, else as the hex digits of their bytes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::sys::{path_bytes, path_of_bytes};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes { hex: String },
}

impl Written {
    fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => {
                let bytes = path_bytes(path);
                let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
                let hex = bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]);
                Self::Bytes { hex: hex.collect() }
            }
        }
    }

    fn path(self) -> Option<PathBuf> {
        match self {
            Self::Text(text) => Some(text.into()),
            Self::Bytes { hex } => {
                let digits = hex.as_bytes().chunks(2).map(|pair| {
                    let pair = std::str::from_utf8(pair).ok().filter(|p| p.len() == 2)?;
                    u8::from_str_radix(pair, 16).ok()
                });
                path_of_bytes(digits.collect::<Option<Vec<u8>>>()?)
            }
        }
    }
}

fn read<E: de::Error>(written: Written) -> Result<PathBuf, E> {
    written.path().ok_or_else(|| E::custom("not a path"))
}

/// One path, for `#[serde(with)]`.
pub(crate) mod one {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serialize, Serializer, Written};

    pub(crate) fn serialize<S: Serializer>(path: &Path, s: S) -> Result<S::Ok, S::Error> {
        Written::of(path).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<PathBuf, D::Error> {
        super::read(Written::deserialize(d)?)
    }
}

/// A list of paths, for `#[serde(with)]`.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, PathBuf, Serializer, Written};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(paths.iter().map(|p| Written::of(p)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<PathBuf>, D::Error> {
        let all = Vec::<Written>::deserialize(d)?;
        all.into_iter().map(super::read).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder(#[serde(with = "list")] Vec<PathBuf>);

    #[test]
    fn path_text_keeps_paths_that_are_not_utf8() {
        let odd = path_of_bytes(b"/x/odd\xff.jsonl".to_vec()).unwrap();
        let holder = Holder(vec!["/x/é".into(), odd]);
        let text = serde_json::to_string(&holder).unwrap();
        assert_eq!(text, r#"["/x/é",{"hex":"2f782f6f6464ff2e6a736f6e6c"}]"#);
        assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), holder);
        for bad in [
            r#"[{"hex":"zz"}]"#,
            r#"[{"hex":"abc"}]"#,
            r#"[{"hex":"é"}]"#,
            "[1]",
        ] {
            assert!(serde_json::from_str::<Holder>(bad).is_err(), "{bad}");
        }
    }
}

//! Versions of the client, and ranges of them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A version of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The newest whose behaviour was measured.
    pub const NEWEST: Version = Version(2, 1, 325);
}

impl Default for Version {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version: a version has three numbers, like 2.1.45")]
pub struct NoVersion(String);

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        // A suffix such as `-beta.1` does not change what a client does.
        let numbers = text
            .trim_start_matches('v')
            .split(['-', '+', ' '])
            .next()
            .unwrap_or_default();
        let parts: Vec<u32> = numbers
            .split('.')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(|_| NoVersion(text.to_owned()))?;
        match parts[..] {
            [a, b, c] => Ok(Version(a, b, c)),
            _ => Err(NoVersion(text.to_owned())),
        }
    }
}

/// Which versions a fault hurts.
///
/// A version between the last that was seen to suffer and the first that was seen to cope is taken to
/// suffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// Every one.
    All,
    /// All before this one.
    Before(Version),
    /// This one and all after it.
    From(Version),
    /// None that was measured.
    None,
}

impl Versions {
    /// Returns whether a version is in the range.
    pub fn contains(self, version: Version) -> bool {
        match self {
            Versions::All => true,
            Versions::Before(first_well) => version < first_well,
            Versions::From(first_ill) => version >= first_ill,
            Versions::None => false,
        }
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Versions::All => f.write_str("every version"),
            Versions::Before(v) => write!(f, "versions before {v}"),
            Versions::From(v) => write!(f, "{v} and newer"),
            Versions::None => f.write_str("no known version"),
        }
    }
}

impl Serialize for Versions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_numbers_are_compared_as_numbers() {
        let v = |t: &str| t.parse::<Version>().unwrap();
        assert!(v("2.1.9") < v("2.1.45") && v("2.0.76") < v("2.1.9"));
        assert_eq!(v("v2.1.3-beta"), Version(2, 1, 3));
        assert!("2.1".parse::<Version>().is_err() && "x".parse::<Version>().is_err());
        assert!(
            Versions::Before(v("2.1.156")).contains(v("2.1.45"))
                && !Versions::Before(v("2.1.156")).contains(v("2.1.156"))
        );
    }
}

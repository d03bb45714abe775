//! Versions of Kubernetes: the oldest one that is supported, and what API servers and people write.

use std::fmt;

/// Major and minor version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
}

/// The oldest version that the manifests and the chart support: the webhook configurations use its fields.
pub const OLDEST: Version = Version { major: 1, minor: 33 };

impl Version {
    /// The version in the answer of `/version`. Some providers write the minor version as `33+`.
    #[must_use]
    pub fn of_server(major: &str, minor: &str) -> Option<Self> {
        let number = |text: &str| text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok();
        Some(Self { major: number(major)?, minor: number(minor)? })
    }

    /// A version as people write it, such as `1.36` or `v1.36.2`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim_start_matches('v').split(['.', '+', '-']);
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        Some(Self { major: number()?, minor: number()? })
    }

    /// Whether it is supported.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self >= OLDEST
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_servers_and_people() {
        let version = |major, minor| Some(Version { major, minor });
        for (major, minor, expected) in [
            ("1", "33", version(1, 33)),
            ("1", "33+", version(1, 33)),
            ("1", "9", version(1, 9)),
            ("2", "0", version(2, 0)),
            ("", "", None),
            ("1", "x", None),
        ] {
            assert_eq!(Version::of_server(major, minor), expected, "{major} {minor}");
        }
        for (text, expected) in [
            ("1.36", version(1, 36)),
            ("v1.36.2", version(1, 36)),
            ("1.34-eks", version(1, 34)),
            ("36", None),
        ] {
            assert_eq!(Version::parse(text), expected, "{text}");
        }
        let supported = |major, minor| Version { major, minor }.is_supported();
        assert!(supported(1, 33) && supported(1, 100) && supported(2, 0) && !supported(1, 32));
        assert_eq!(OLDEST.to_string(), "1.33");
    }
}

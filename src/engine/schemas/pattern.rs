//! The patterns of the CRDs. There are five, so each is a function and no engine for regular expressions is needed; a
//! test refuses a table with another one.

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// A quantity of a resource.
    Quantity,
    /// A number of bytes with a binary unit.
    Size,
    /// A DNS label.
    Label,
    /// Holds a letter, digit or hyphen.
    ImageName,
    /// Holds one of those, a dot or a slash.
    Repository,
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$" => {
                Self::Quantity
            }
            r"^(\d+)(Ei|Pi|Ti|Gi|Mi|Ki)$" => Self::Size,
            r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" => Self::Label,
            r"[a-zA-Z0-9\-]+" => Self::ImageName,
            r"[a-zA-Z0-9\.\-\/]+" => Self::Repository,
            _ => return None,
        })
    }

    /// Whether a text has the form.
    #[must_use]
    pub fn does_text_fit(self, text: &str) -> bool {
        match self {
            Self::Quantity => {
                let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
                number(rest).is_some_and(unit)
            }
            Self::Size => {
                let units = ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"];
                let count = units.iter().find_map(|unit| text.strip_suffix(unit));
                count.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            }
            Self::Label => {
                let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
                let edges = [text.bytes().next(), text.bytes().next_back()];
                edges.iter().all(|b| b.is_some_and(plain)) && text.bytes().all(|b| plain(b) || b == b'-')
            }
            Self::ImageName => text.bytes().any(|b| b.is_ascii_alphanumeric() || b == b'-'),
            Self::Repository => {
                text.bytes().any(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'/'))
            }
        }
    }

    /// The form in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Quantity => "a quantity such as 500m or 2Gi",
            Self::Size => "a size such as 10Gi",
            Self::Label => "a name of lower-case letters, digits and hyphens",
            Self::ImageName => "the name of an image",
            Self::Repository => "a repository such as nvcr.io/nvidia",
        }
    }
}

/// What follows a decimal number, which may have a point.
fn number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let whole = rest.len() < text.len();
    let Some(fraction) = rest.strip_prefix('.') else { return whole.then_some(rest) };
    let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    (whole || rest.len() < fraction.len()).then_some(rest)
}

fn unit(text: &str) -> bool {
    match text.as_bytes() {
        [] | [b'n' | b'u' | b'm' | b'k' | b'M' | b'G' | b'T' | b'P' | b'E'] => true,
        [b'K' | b'M' | b'G' | b'T' | b'P' | b'E', b'i'] => true,
        [b'e' | b'E', ..] => {
            let exponent = text.get(1..).unwrap_or_default();
            number(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) == Some("")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern::{self, ImageName, Label, Quantity, Repository, Size};

    #[test]
    fn texts_that_fit_and_texts_that_do_not() {
        let cases: [(Pattern, &[&str], &[&str]); 5] = [
            (
                Quantity,
                &["1", "+1.5", "-.5", "2.", "500m", "2Gi", "1e3", "1E-3", "1E", "1k"],
                &["", ".", "1K", "1 Gi", "1Gib", "x", "1e", "1e+", "--1", "1.5.2"],
            ),
            (Size, &["10Gi", "1Ki"], &["Gi", "10G", "10", "1.5Gi"]),
            (Label, &["a", "a-1"], &["", "A", "a-", "a_b"]),
            (ImageName, &["doca-driver", "a:b"], &["", "::"]),
            (Repository, &["nvcr.io/nvidia"], &["", ":"]),
        ];
        for (pattern, fit, misfit) in cases {
            assert!(fit.iter().all(|t| pattern.does_text_fit(t)), "{pattern:?}");
            for text in misfit {
                assert!(!pattern.does_text_fit(text), "{pattern:?}: {text:?}");
            }
        }
    }
}

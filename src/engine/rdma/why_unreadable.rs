//! The reason why a value is missing.

use std::fmt;

/// A value, or the reason why there is none.
pub type Reading<T> = Result<T, Unreadable>;

/// Most characters of a text that a reason quotes.
const QUOTED: usize = 40;

/// Why a reading has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// The file does not exist.
    Missing,
    /// The kernel denies access.
    Denied,
    /// EINVAL. For a GID row's attributes this means that the row is empty.
    Invalid,
    /// The driver does not support the reading.
    Unsupported,
    /// Another kind of file: a directory, a pipe, a device.
    NotAFile,
    /// The content is longer than the most that is read (bytes).
    TooLong(usize),
    /// The content has another form; the start of it.
    Odd(String),
    /// It was not read.
    NotRead(&'static str),
    /// Any other error, in the system's words.
    Failed(String),
}

impl Unreadable {
    /// A content of another form. Only a part of it is kept, without control characters.
    #[must_use]
    pub fn unexpected_form(content: &[u8]) -> Self {
        let text = String::from_utf8_lossy(content.get(..4 * QUOTED).unwrap_or(content)).into_owned();
        let shown = |c: char| if c.is_control() || c == char::REPLACEMENT_CHARACTER { '?' } else { c };
        Self::Odd(text.trim().chars().take(QUOTED).map(shown).collect())
    }

    /// The reason for an error of the system, by its number where it has one.
    #[must_use]
    pub fn of_errno(number: Option<i32>, words: &str) -> Self {
        // The numbers are those of Linux on every architecture that we build for.
        match number {
            Some(2) => Self::Missing,
            Some(1 | 13) => Self::Denied,
            Some(22) => Self::Invalid,
            Some(95) => Self::Unsupported,
            _ => Self::Failed(words.to_owned()),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("does not exist"),
            Self::Denied => f.write_str("access is denied"),
            Self::Invalid => f.write_str("the kernel answers EINVAL"),
            Self::Unsupported => f.write_str("the driver does not support it"),
            Self::NotAFile => f.write_str("is not a regular file"),
            Self::TooLong(most) => write!(f, "is longer than {most} bytes"),
            Self::Odd(text) if text.is_empty() => f.write_str("is empty"),
            Self::Odd(text) => write!(f, "has an unknown form: {text:?}"),
            Self::NotRead(why) => f.write_str(why),
            Self::Failed(words) => f.write_str(words),
        }
    }
}

/// The content as one line of text, without the spaces around it.
pub(super) fn line(content: &[u8]) -> Reading<&str> {
    let text = std::str::from_utf8(content).map_err(|_| Unreadable::unexpected_form(content))?.trim();
    if text.is_empty() || text.contains(['\n', '\0']) {
        Err(Unreadable::unexpected_form(content))
    } else {
        Ok(text)
    }
}

/// A name that the kernel gives to a device or an interface: short, printable, and without a slash.
///
/// # Errors
/// Any other text.
pub fn name(content: &[u8]) -> Reading<String> {
    let text = line(content)?;
    let plain = |c: char| c.is_ascii_graphic() && c != '/';
    if text.len() < 128 && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err(Unreadable::unexpected_form(content))
    }
}

//! Why a networks annotation cannot be parsed.

/// Why the annotation cannot be parsed. Texts quote at most a few characters of the input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationError {
    /// More than the API server stores.
    #[error("{0} bytes; all annotations of an object share 262144")]
    TooLong(usize),
    /// White space only.
    #[error("blank; Multus looks for a network without a name")]
    Blank,
    /// Looks like JSON and is not valid.
    #[error("not valid JSON ({0})")]
    Json(String),
    /// JSON, but not a list.
    #[error("JSON, but not a list; Multus takes only a list here")]
    NotAList,
    /// A list element that is not an object.
    #[error("item {0} is not an object")]
    NotAnObject(usize),
    /// An item without a name.
    #[error("item {0} has no network name")]
    NoName(usize),
    /// A name that no Kubernetes object can have.
    #[error("item {index}: {what} {value:?} is not a valid name")]
    BadName {
        /// Position in the list, from 1.
        index: usize,
        /// Namespace, network name or interface.
        what: &'static str,
        /// The text, shortened.
        value: String,
    },
    /// A request that Multus refuses.
    #[error("item {index}: `{key}` is {value}; expected {expected}")]
    BadValue {
        /// Position in the list, from 1.
        index: usize,
        /// Key of the element.
        key: &'static str,
        /// The value, shortened.
        value: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// More than one `/` or `@`.
    #[error("item {0}: expected [namespace/]name[@interface]")]
    Shape(usize),
}

/// A few characters of a value.
pub(super) fn shorten(value: &str) -> String {
    let mut short: String = value.chars().take(40).collect();
    if short.len() < value.len() {
        short.push('…');
    }
    short
}

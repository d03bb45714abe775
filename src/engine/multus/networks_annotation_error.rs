//! Why a networks annotation cannot be parsed.

/// Why the annotation cannot be parsed. Texts quote at most a few characters of the input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationError {
    /// More than the API server stores.
    #[error("the value has {0} bytes, but all annotations of an object together may have at most 262144")]
    TooLong(usize),
    /// More networks than are compared with anything.
    #[error("the value names {0} networks, and this webhook reads at most 256")]
    TooMany(usize),
    /// White space only.
    #[error("the value is blank, so Multus looks for a network without a name")]
    Blank,
    /// Looks like JSON and is not valid.
    #[error("the value is not valid JSON ({0})")]
    Json(String),
    /// JSON, but not a list.
    #[error("the value is JSON, but not a list")]
    NotAList,
    /// A list element that is not an object.
    #[error("item {0} is not an object")]
    NotAnObject(usize),
    /// An item without a name.
    #[error("item {0} has no network name")]
    NoName(usize),
    /// A name that no Kubernetes object can have.
    #[error("item {index} has the {what} {value:?}, which is not valid")]
    BadName {
        /// Position in the list, from 1.
        index: usize,
        /// Namespace, network name or interface.
        what: &'static str,
        /// The text, shortened.
        value: String,
    },
    /// A request that Multus refuses.
    #[error("`{key}` of item {index} must be {expected}, but is {value}")]
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
    #[error("item {0} does not have the form [namespace/]name[@interface]")]
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

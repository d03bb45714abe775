//! What the API server sends, as text.

use std::borrow::Cow;

/// The text of an answer or of a line. Bytes that are not UTF-8 become U+FFFD, as in Go's decoder: the API server keeps
/// `fieldsV1` of managed fields and `opaque.parameters` of claims as their author sent them, so a tenant can put such bytes
/// into a list of all tenants. They stand inside strings, since the API server has checked the syntax.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

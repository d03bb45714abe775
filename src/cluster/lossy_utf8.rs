//! What the API server sends, as text.

use crate::text::replace_bytes_that_are_not_utf8;
use std::borrow::Cow;

/// The text of an answer or of a line. Bytes that are not UTF-8 are replaced: the API server keeps `fieldsV1` of managed
/// fields and `opaque.parameters` of claims as their author sent them, so a tenant can put such bytes into a list of all
/// tenants. They stand inside strings, since the API server has checked the syntax.
pub(super) fn text_with_replaced_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut bytes = bytes.to_vec();
            replace_bytes_that_are_not_utf8(&mut bytes);
            Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
        }
    }
}

//! Which texts may become generic JSON documents.

/// Longest text that becomes a generic document (bytes). In memory it takes up to fifty times its length
/// (`[{"":0},…`), and whoever may write one object of the cluster makes every replica read it.
pub(crate) const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// A generic document out of a JSON text.
///
/// # Errors
/// The error of `serde_json` for a text that is not JSON, or an error for one longer than 256 KiB.
pub fn parse_document_within_limit(text: &str) -> serde_json::Result<serde_json::Value> {
    refuse_long_document(text)?;
    serde_json::from_str(text)
}

/// Refuses a text that would take too much memory as a generic document.
///
/// # Errors
/// For a text that is longer than [`MAX_DOCUMENT_BYTES`].
pub(crate) fn refuse_long_document(text: &str) -> serde_json::Result<()> {
    if text.len() > MAX_DOCUMENT_BYTES {
        let message = format!("{} bytes; at most {MAX_DOCUMENT_BYTES} are read", text.len());
        return Err(serde::de::Error::custom(message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_do_not_become_documents() {
        assert!(
            parse_document_within_limit(&format!("[{}0]", "0,".repeat(MAX_DOCUMENT_BYTES / 2 - 2))).is_ok()
        );
        assert!(
            parse_document_within_limit(&format!("[{}0]", "0,".repeat(MAX_DOCUMENT_BYTES / 2)))
                .unwrap_err()
                .to_string()
                .contains("at most 262144")
        );
    }
}

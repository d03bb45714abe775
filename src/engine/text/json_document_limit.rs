//! Which texts may become generic JSON documents.

/// Longest text that becomes a generic document (bytes). In memory it takes up to fifty times its length
/// (`[{"":0},…`), and whoever may write one object of the cluster makes every replica read it.
pub(crate) const MAX_DOCUMENT_BYTES: usize = 256 * 1024;
/// Most values of a text that becomes a generic document (count). Each takes about 0.2 microseconds whenever a version of
/// the object is read. Objects of 256 KiB that people write have half as many.
const MAX_DOCUMENT_VALUES: usize = 24_000;

/// The same of a CNI configuration, which is read up to six times and is an object of a tenant. Real ones have a hundred, and one
/// with 250 routes has this many.
const MAX_CNI_VALUES: usize = 1_000;

/// The same of one configuration of a device plugin. A resource has some ten values, and a node some ten resources.
pub(crate) const MAX_DEVICE_PLUGIN_VALUES: usize = 2_000;
/// The same of all of them in one object: the SR-IOV operator has a ConfigMap with one for each node.
pub(crate) const MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT: usize = 8_000;

/// A generic document out of a JSON text.
///
/// # Errors
/// The error of `serde_json` for a text that is not JSON, or an error for one longer than 256 KiB or with more than
/// 24,000 values.
pub fn parse_document_within_limit(text: &str) -> serde_json::Result<serde_json::Value> {
    refuse_long_document(text)?;
    serde_json::from_str(text)
}

/// Refuses a text that would take too much memory as a generic document.
///
/// # Errors
/// For a text that is longer than [`MAX_DOCUMENT_BYTES`], or has more than 24,000 values. Values are counted by the bytes
/// between them, which texts may have too.
pub(crate) fn refuse_long_document(text: &str) -> serde_json::Result<()> {
    refuse_document_of_more_values(text, MAX_DOCUMENT_VALUES)
}

/// The same for a CNI configuration, or a part of one, with at most 1,000 values.
///
/// # Errors
/// As [`refuse_long_document`].
pub(crate) fn refuse_long_cni_document(text: &str) -> serde_json::Result<()> {
    refuse_document_of_more_values(text, MAX_CNI_VALUES)
}

fn refuse_document_of_more_values(text: &str, most: usize) -> serde_json::Result<()> {
    if text.len() > MAX_DOCUMENT_BYTES {
        let message = format!("{} bytes; at most {MAX_DOCUMENT_BYTES} are read", text.len());
        return Err(serde::de::Error::custom(message));
    }
    let values = estimated_values(text);
    if values > most {
        let message = format!("about {values} values; at most {most} are read");
        return Err(serde::de::Error::custom(message));
    }
    Ok(())
}

/// Values of a JSON text: at most so many, and about as many where its texts have few of the bytes between values.
pub(crate) fn estimated_values(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_do_not_become_documents() {
        let text = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        let list = |values: usize| format!("[{}0]", "0,".repeat(values - 1));
        let refused = |text: &str| parse_document_within_limit(text).err().map(|e| e.to_string());
        assert_eq!(refused(&text(MAX_DOCUMENT_BYTES)), None);
        assert!(refused(&text(MAX_DOCUMENT_BYTES + 1)).is_some_and(|e| e.contains("at most 262144")));
        assert_eq!(refused(&list(MAX_DOCUMENT_VALUES)), None);
        assert!(refused(&list(MAX_DOCUMENT_VALUES + 1)).is_some_and(|e| e.contains("at most 24000")));
    }
}

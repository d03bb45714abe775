//! Memory that the decision on a body takes, estimated before any of it is decoded.
//!
//! Entries of lists and maps count, not bytes: `""` and a comma are three bytes of a body and 66 bytes while it is decided,
//! and `{}` in a list of containers is half a kilobyte.

/// Memory of one entry (bytes). The most expensive shapes that a search found take 190 per bracket or comma: containers
/// and volumes of many templates without any field.
const ENTRY: usize = 192;

/// The estimate: the body, and every entry of a list or a map in it. What stands in quotes is text.
pub(super) fn decoded(body: &[u8]) -> usize {
    let mut entries = 0_usize;
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b',' | b'{' | b'[' => entries += 1,
            b'"' => {
                while bytes.find(|b| matches!(b, b'"' | b'\\')).is_some_and(|b| *b == b'\\') {
                    bytes.next();
                }
            }
            _ => {}
        }
    }
    body.len().saturating_add(entries.saturating_mul(ENTRY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_count_and_texts_do_not() {
        let entries = |text: &str| (decoded(text.as_bytes()) - text.len()) / ENTRY;
        for (text, expected) in [
            ("", 0),
            ("{}", 1),
            (r#"{"a":[1,2,3]}"#, 4),
            (r#"["a,b,c","{[","\\\",","\\\\",""]"#, 5),
            (r#"{"a":"\"},{"#, 1),
            (r#"["a"#, 1),
            ("\"\\", 0),
        ] {
            assert_eq!(entries(text), expected, "{text}");
        }
    }
}

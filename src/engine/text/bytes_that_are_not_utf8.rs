//! Bytes that are not UTF-8, in JSON that somebody else wrote.

/// Replaces each byte that is not UTF-8 by `?`. Go's decoder puts U+FFFD there (encoding/json, `unquoteBytes`). That has
/// three bytes, so a text would become three times as long as its limit; and no name in Kubernetes has either.
pub fn replace_bytes_that_are_not_utf8(bytes: &mut [u8]) {
    let mut rest = bytes;
    while let Err(error) = std::str::from_utf8(rest) {
        let (_, bad) = rest.split_at_mut(error.valid_up_to());
        let (bad, after) = bad.split_at_mut(error.error_len().unwrap_or(bad.len()));
        bad.fill(b'?');
        rest = after;
        // Bytes that begin no character, in a row: reading each again takes ten times as long.
        while let [byte @ (0x80..0xC2 | 0xF5..), after @ ..] = rest {
            *byte = b'?';
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::replace_bytes_that_are_not_utf8;

    #[test]
    fn only_bytes_that_are_not_utf8_are_replaced_and_the_length_stays() {
        for (before, after) in [
            (&b"a\xc3\xa9\xff\"b"[..], "a\u{e9}?\"b"),
            (b"\xe2\x82", "??"),
            (b"\xf0\x9f\x92\xa9\xf0\x9f\x92", "\u{1f4a9}???"),
            (b"\xff\x80\xc1\xf5\xc3\xa9\xfe", "????\u{e9}?"),
            (b"plain", "plain"),
            (b"", ""),
        ] {
            let mut bytes = before.to_vec();
            replace_bytes_that_are_not_utf8(&mut bytes);
            assert_eq!(bytes, after.as_bytes());
        }
    }
}

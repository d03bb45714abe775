//! Bytes that are not UTF-8, in JSON that somebody else wrote.

/// Bytes that are looked at together, before those of them that are not UTF-8 are replaced.
const PIECE: usize = 4096;

/// Replaces each byte that is not UTF-8 by `?`. Go's decoder puts U+FFFD there (encoding/json, `unquoteBytes`). That has
/// three bytes, so a text would become three times as long as its limit; and no name in Kubernetes has either.
pub fn replace_bytes_that_are_not_utf8(bytes: &mut [u8]) {
    let mut rest = bytes;
    let mut bad = Vec::new();
    // To read everything again behind each bad byte would take several times as long.
    while !rest.is_empty() {
        let length = rest.len().min(PIECE);
        let is_last = length == rest.len();
        let piece = rest.get(..length).unwrap_or_default();
        let mut at = 0;
        for chunk in piece.utf8_chunks() {
            let start = at + chunk.valid().len();
            let end = start + chunk.invalid().len();
            // A character may go on in the next piece.
            if end == length && !is_last {
                at = start;
            } else {
                at = end;
                bad.push(start..end);
            }
        }
        let (piece, after) = rest.split_at_mut(at);
        for range in bad.drain(..) {
            piece.get_mut(range).unwrap_or_default().fill(b'?');
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::replace_bytes_that_are_not_utf8;

    #[test]
    fn only_bytes_that_are_not_utf8_are_replaced_and_the_length_stays() {
        // Characters begin at each place of a piece.
        let long: String = (0..4).map(|n| "a".repeat(n) + &"\u{e9}\u{20ac}\u{1f4a9}".repeat(2000)).collect();
        for (before, after) in [
            (&b"a\xc3\xa9\xff\"b"[..], "a\u{e9}?\"b"),
            (b"\xe2\x82", "??"),
            (b"\xf0\x9f\x92\xa9\xf0\x9f\x92", "\u{1f4a9}???"),
            (b"\xff\x80\xc1\xf5\xc3\xa9\xfe", "????\u{e9}?"),
            (b"plain", "plain"),
            (b"", ""),
            (long.as_bytes(), &long),
        ] {
            let mut bytes = before.to_vec();
            replace_bytes_that_are_not_utf8(&mut bytes);
            assert_eq!(bytes, after.as_bytes());
        }
        for begins in 0..10 {
            let bad = |replaced: &[u8]| {
                let text = "\u{e9}\u{20ac}".repeat(2000).into_bytes();
                [&b"aaaaaaaaaa"[..begins], &replaced.repeat(2000), &text, replaced].concat()
            };
            let mut bytes = bad(b"\xe2\x82a\xff");
            replace_bytes_that_are_not_utf8(&mut bytes);
            assert!(bytes == bad(b"??a?"), "{begins}");
        }
    }
}

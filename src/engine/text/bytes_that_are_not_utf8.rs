//! Bytes that are not UTF-8, in JSON that somebody else wrote.

/// Replaces each byte that is not UTF-8 by `?`. Go's decoder puts U+FFFD there (encoding/json, `unquoteBytes`). That has
/// three bytes, so a text would become three times as long as its limit; and no name in Kubernetes has either.
///
/// To ask the standard library for each piece between such bytes takes five times as long, where nearly every byte is one.
pub fn replace_bytes_that_are_not_utf8(bytes: &mut [u8]) {
    let mut rest = bytes;
    while let Some(ascii) = rest.iter().position(|byte| !byte.is_ascii()) {
        rest = rest.split_at_mut(ascii).1;
        while rest.first().is_some_and(|byte| !byte.is_ascii()) {
            let length = length_of_character(rest);
            let (character, after) = rest.split_at_mut(length.unwrap_or(1));
            if length.is_none() {
                character.fill(b'?');
            }
            rest = after;
        }
    }
}

/// The length of the character that begins here (bytes), by table 3-7 of the Unicode Standard; `None` for another byte and
/// for ASCII.
fn length_of_character(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0xc2..=0xdf, 0x80..=0xbf, ..] => Some(2),
        [0xe0, 0xa0..=0xbf, 0x80..=0xbf, ..]
        | [0xe1..=0xec | 0xee..=0xef, 0x80..=0xbf, 0x80..=0xbf, ..]
        | [0xed, 0x80..=0x9f, 0x80..=0xbf, ..] => Some(3),
        [0xf0, 0x90..=0xbf, 0x80..=0xbf, 0x80..=0xbf, ..]
        | [0xf1..=0xf3, 0x80..=0xbf, 0x80..=0xbf, 0x80..=0xbf, ..]
        | [0xf4, 0x80..=0x8f, 0x80..=0xbf, 0x80..=0xbf, ..] => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::replace_bytes_that_are_not_utf8;

    #[test]
    fn only_bytes_that_are_not_utf8_are_replaced_and_the_length_stays() {
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
    }

    /// Each sequence of up to four of the bytes at which the rule changes, as the standard library reads it.
    #[test]
    fn the_standard_library_finds_the_same_bytes() {
        let edges = [
            0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
            0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        ];
        for number in 0..edges.len().pow(4) {
            let before: Vec<u8> =
                (0..4).map(|place| edges[number / edges.len().pow(place) % edges.len()]).collect();
            let expected: Vec<u8> = before
                .utf8_chunks()
                .flat_map(|chunk| [chunk.valid().as_bytes(), &b"????"[..chunk.invalid().len()]].concat())
                .collect();
            let mut bytes = before.clone();
            replace_bytes_that_are_not_utf8(&mut bytes);
            assert_eq!(bytes, expected, "{before:x?}");
        }
    }
}

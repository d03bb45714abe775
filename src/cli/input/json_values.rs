//! Where a stream of JSON values can be cut, before any of it is decoded.

/// Values of a part, about. A decoded value of two bytes takes 3 KiB.
const MANY: usize = 4_096;

/// What was found between the values of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// Only blanks.
    Blanks,
    /// A line that separates YAML documents. The rest of the stream is YAML (see `manifest::read`).
    Separator,
    /// Another text. Where its parts end is not known.
    Text,
}

/// Goes over the text of a stream once, as more and more of it is read.
#[derive(Debug)]
pub(super) struct JsonValues {
    at: usize,
    depth: usize,
    string: bool,
    escaped: bool,
    between: Between,
    /// The start of the last object that is not inside of another value.
    last: usize,
    objects: usize,
}

impl Default for JsonValues {
    fn default() -> Self {
        let between = Between::Blanks;
        Self { at: 0, depth: 0, string: false, escaped: false, between, last: 0, objects: 0 }
    }
}

impl JsonValues {
    /// Reads on to the end of the text.
    pub(super) fn read(&mut self, text: &[u8]) -> Between {
        for (offset, byte) in text.iter().enumerate().skip(self.at) {
            if self.between != Between::Blanks {
                break;
            }
            self.at = offset + 1;
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.string => self.escaped = true,
                b'"' if self.depth > 0 => self.string = !self.string,
                _ if self.string => {}
                b'{' if self.depth == 0 => {
                    (self.last, self.depth) = (offset, 1);
                    self.objects += 1;
                }
                b'{' | b'[' if self.depth > 0 => self.depth += 1,
                b'}' | b']' if self.depth > 0 => self.depth -= 1,
                b'-' if self.depth == 0 && text.get(..offset).is_some_and(|t| t.ends_with(b"\n")) => {
                    // Two more of them may not be read yet.
                    match text.get(offset..offset + 3) {
                        Some(b"---") => self.between = Between::Separator,
                        Some(_) => self.between = Between::Text,
                        None => {
                            self.at = offset;
                            break;
                        }
                    }
                }
                _ if self.depth > 0 || byte.is_ascii_whitespace() => {}
                // A byte order mark is before the first value.
                _ if self.objects == 0 => {}
                _ => self.between = Between::Text,
            }
        }
        self.between
    }

    /// Whether there are so many values that decoding takes much more memory than their text.
    pub(super) fn are_many(&self) -> bool {
        self.objects >= MANY
    }

    /// The start of the last value, with values before it.
    pub(super) fn cut(&self) -> Option<usize> {
        (self.between == Between::Blanks && self.objects > 1).then_some(self.last)
    }
}

/// How many values a stream of objects has, about.
pub(super) fn count(text: &[u8]) -> usize {
    let mut values = JsonValues::default();
    values.read(text);
    values.objects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_cut_between_its_objects() {
        for (text, between, cut) in [
            (&b"{}{}{}"[..], Between::Blanks, Some(4)),
            (b"\xef\xbb\xbf{} \n {\"a\": \"}{\", \"b\": \"\\\"{\"}", Between::Blanks, Some(8)),
            (b"{\"a\": [{}, {}]}", Between::Blanks, None),
            (b"{} 1 {}", Between::Text, None),
            (b"{}\n---\na: {}", Between::Separator, None),
            (b"{}\n-- {}", Between::Text, None),
            (b"{{ if .Values.a }}\nkind: {{ .b }}", Between::Text, None),
        ] {
            let mut values = JsonValues::default();
            assert_eq!((values.read(text), values.cut()), (between, cut), "{}", text.escape_ascii());
            // Byte by byte it is the same.
            let mut slow = JsonValues::default();
            for end in 0..=text.len() {
                slow.read(&text[..end]);
            }
            assert_eq!((slow.between, slow.cut()), (between, cut), "{}", text.escape_ascii());
        }
        assert_eq!(count(b"{} {} {\"a\": {}}"), 3);
    }
}

//! JSON text to a node tree, with positions.
//!
//! Valid JSON never passes through the YAML reader: YAML 1.1 limits keys to 1024 characters, has no surrogate escapes
//! and forbids tabs in places.

use super::node_tree::{Id, MAX_DEPTH, MAX_NODES, NO_NODE, NodeKind, Tree};
use super::read_fault::ReadFault;
use super::source_positions::Position;

/// Reads JSON values one after the other.
pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// A byte offset and its position, at or before `at`; it moves along, so that counting characters stays linear,
    /// however long the lines are.
    mark: (usize, Position),
}

impl<'t> Reader<'t> {
    /// Starts at byte `at` of `text`, whose position is `origin`.
    pub(super) fn new(text: &'t str, at: usize, origin: Position) -> Self {
        Self { text, at, mark: (at, origin) }
    }

    /// The reader's place, as a byte offset and as a position.
    pub(super) fn here(&mut self) -> (usize, Position) {
        (self.at, self.position(self.at))
    }

    /// Skips blanks; `false` at the end of the text.
    pub(super) fn skip_blanks(&mut self) -> bool {
        while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = self.peek() {
            self.at += 1;
            if byte == b'\n' {
                let line = self.mark.1.line.saturating_add(1);
                self.mark = (self.at, Position { line, column: 1 });
            }
        }
        self.peek().is_some()
    }

    /// Skips the characters that kubectl skips between JSON and YAML in one stream: blanks up to the end of the line.
    pub(super) fn skip_blanks_and_line_end(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        if self.peek() == Some(b'\n') {
            self.at += 1;
            let line = self.mark.1.line.saturating_add(1);
            self.mark = (self.at, Position { line, column: 1 });
        }
    }

    /// Reads the value that starts here.
    pub(super) fn read_value(&mut self) -> Result<(Tree, Id), ReadFault> {
        let mut tree = Tree::default();
        let root = self.node(&mut tree, 0)?;
        Ok((tree, root))
    }

    fn node(&mut self, tree: &mut Tree, depth: usize) -> Result<Id, ReadFault> {
        let start = self.at;
        let at = self.position(start);
        let kind = match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => {
                return Err(ReadFault::of_our_limit(at, format!("nested more than {MAX_DEPTH} levels deep")));
            }
            Some(b'{') => return self.object(tree, depth + 1),
            Some(b'[') => return self.array(tree, depth + 1),
            Some(b'"') => NodeKind::Str(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", NodeKind::Bool(true))?,
            Some(b'f') => self.word("false", NodeKind::Bool(false))?,
            Some(b'n') => self.word("null", NodeKind::Null)?,
            _ => return Err(self.unexpected("a JSON value")),
        };
        self.push(tree, kind, at)
    }

    fn push(&mut self, tree: &mut Tree, kind: NodeKind, at: Position) -> Result<Id, ReadFault> {
        tree.push(kind, at).ok_or_else(|| {
            ReadFault::of_our_limit(at, format!("the document has more than {MAX_NODES} values"))
        })
    }

    fn object(&mut self, tree: &mut Tree, depth: usize) -> Result<Id, ReadFault> {
        let at = self.position(self.at);
        let id = self.push(tree, NodeKind::Mapping(NO_NODE), at)?;
        self.at += 1;
        let mut last = NO_NODE;
        self.skip_blanks();
        if self.skip_if(b'}') {
            return Ok(id);
        }
        loop {
            self.skip_blanks();
            let at = self.position(self.at);
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = NodeKind::Str(self.string()?);
            let key = self.push(tree, key, at)?;
            tree.append_child(id, last, key);
            self.skip_blanks();
            if !self.skip_if(b':') {
                return Err(self.unexpected("`:` after the key"));
            }
            self.skip_blanks();
            let value = self.node(tree, depth)?;
            tree.append_child(id, key, value);
            last = value;
            self.skip_blanks();
            if self.skip_if(b'}') {
                return Ok(id);
            }
            if !self.skip_if(b',') {
                return Err(self.unexpected("`,` or `}` after the value"));
            }
        }
    }

    fn array(&mut self, tree: &mut Tree, depth: usize) -> Result<Id, ReadFault> {
        let at = self.position(self.at);
        let id = self.push(tree, NodeKind::Sequence(NO_NODE), at)?;
        self.at += 1;
        let mut last = NO_NODE;
        self.skip_blanks();
        if self.skip_if(b']') {
            return Ok(id);
        }
        loop {
            self.skip_blanks();
            let item = self.node(tree, depth)?;
            tree.append_child(id, last, item);
            last = item;
            self.skip_blanks();
            if self.skip_if(b']') {
                return Ok(id);
            }
            if !self.skip_if(b',') {
                return Err(self.unexpected("`,` or `]` after the item"));
            }
        }
    }

    fn word(&mut self, word: &str, kind: NodeKind) -> Result<NodeKind, ReadFault> {
        if self.rest().starts_with(word) {
            self.at += word.len();
            return Ok(kind);
        }
        Err(self.unexpected("a JSON value"))
    }

    fn number(&mut self) -> Result<NodeKind, ReadFault> {
        let start = self.at;
        self.skip_if(b'-');
        if !self.skip_if(b'0') && !self.digits() {
            return Err(self.unexpected("a digit"));
        }
        let mut integer = true;
        if self.skip_if(b'.') {
            integer = false;
            if !self.digits() {
                return Err(self.unexpected("a digit after the decimal point"));
            }
        }
        if self.skip_if(b'e') || self.skip_if(b'E') {
            integer = false;
            if !self.skip_if(b'+') {
                self.skip_if(b'-');
            }
            if !self.digits() {
                return Err(self.unexpected("a digit in the exponent"));
            }
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if integer && let Ok(value) = text.parse() {
            return Ok(NodeKind::Int(value));
        }
        // Beyond the range of a double it is infinite, and refused when the document is written: YAML, which is tried
        // after a syntax error, would read it as a string.
        Ok(NodeKind::Float(text.parse().unwrap_or(f64::INFINITY)))
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at > start
    }

    fn string(&mut self) -> Result<String, ReadFault> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let stop = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\');
            let Some((clean, tail)) = stop.and_then(|length| rest.split_at_checked(length)) else {
                return Err(self.fault(start, "the string that starts here does not end"));
            };
            out.push_str(clean);
            self.at += clean.len();
            match tail.as_bytes().first() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                _ => return Err(self.unexpected("`\"`, or the control character escaped")),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), ReadFault> {
        let start = self.at;
        self.at += 1;
        let byte = self.peek();
        self.at += usize::from(byte.is_some());
        out.push(match byte {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start, out),
            _ => return Err(self.fault(start, "unknown escape in a JSON string")),
        });
        Ok(())
    }

    /// `\uXXXX`, in pairs beyond the basic plane. Half a pair becomes U+FFFD, as in Go.
    fn unicode(&mut self, start: usize, out: &mut String) -> Result<(), ReadFault> {
        let first = self.hex(start)?;
        let whole = if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex(start)?;
            if (0xdc00..0xe000).contains(&second) {
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            } else {
                self.at = back;
                first
            }
        } else {
            first
        };
        out.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn hex(&mut self, start: usize) -> Result<u32, ReadFault> {
        let digits = self.text.get(self.at..self.at.saturating_add(4)).unwrap_or_default();
        if digits.len() == 4
            && digits.bytes().all(|b| b.is_ascii_hexdigit())
            && let Ok(value) = u32::from_str_radix(digits, 16)
        {
            self.at += 4;
            return Ok(value);
        }
        Err(self.fault(start, "`\\u` needs four hexadecimal digits"))
    }

    fn skip_if(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn unexpected(&mut self, wanted: &str) -> ReadFault {
        let found = match self.rest().chars().next() {
            Some(c) => format!("found {c:?}"),
            None => "the text ends".to_owned(),
        };
        self.fault(self.at, &format!("{found}, expected {wanted}"))
    }

    fn fault(&mut self, at: usize, message: &str) -> ReadFault {
        ReadFault::new(self.position(at), message)
    }

    /// The position of a byte; no line ends between the mark and it.
    fn position(&mut self, at: usize) -> Position {
        let (from, position) = self.mark;
        let count = self
            .text
            .get(from..at)
            .map_or(0, |text| if text.is_ascii() { text.len() } else { text.chars().count() });
        let column = position.column.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        let found = Position { column, ..position };
        if at >= from {
            self.mark = (at, found);
        }
        found
    }
}

#[cfg(test)]
mod tests;

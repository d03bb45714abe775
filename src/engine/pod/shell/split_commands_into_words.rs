//! Splits shell text into commands and words, as far as a reader of assignments needs it: quotes, comments, continued
//! lines, and here-documents, which are skipped. A part whose value is known only at run time (`$N`, `$(…)`) leaves a
//! word open. Any text can be read; each byte is read a bounded number of times.

use std::borrow::Cow;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'t> {
    /// As written.
    pub(super) raw: &'t str,
    /// Without its quotes.
    pub(super) text: Cow<'t, str>,
    /// Whether a part of it is known only at run time.
    pub(super) open: bool,
    /// Where it starts (bytes).
    pub(super) at: usize,
}

/// Reads command after command.
#[derive(Debug)]
pub(super) struct Commands<'t> {
    text: &'t str,
    at: usize,
    /// Ends of here-documents that begin after this line, and whether tabs before them are ignored.
    documents: Vec<(Cow<'t, str>, bool)>,
    /// Whether a command had more words, or a line more here-documents, than are kept.
    unread: bool,
}

/// Most words of a command that are kept (count); a word may be one byte, and takes fifty. Real commands have some
/// hundred.
const MAX_WORDS: usize = 16 * 1024;

/// Most here-documents that begin in one line (count): each takes forty bytes, and may be three bytes long. Real lines have
/// one.
const MAX_DOCUMENTS: usize = 64;

fn ends_word(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

impl<'t> Commands<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, documents: Vec::new(), unread: false }
    }

    /// Whether a command so far had more words than were kept.
    pub(super) fn has_unread_words(&self) -> bool {
        self.unread
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Reads the words of the next command that has any; false at the end of the text.
    pub(super) fn read_next_command_into(&mut self, words: &mut Vec<Word<'t>>) -> bool {
        words.clear();
        while let Some(b) = self.byte(self.at) {
            match b {
                b'\n' => {
                    self.at += 1;
                    self.skip_here_documents();
                    if !words.is_empty() {
                        return true;
                    }
                }
                b';' | b'&' | b'|' | b'(' | b')' => {
                    self.at += 1;
                    if !words.is_empty() {
                        return true;
                    }
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.byte(self.at + 1) == Some(b'\n') => self.at += 2,
                b'\\' if self.slice(self.at + 1, self.at + 3) == "\r\n" => self.at += 3,
                b'#' => self.at = self.find_or_end(self.at, b'\n'),
                b'<' | b'>' => self.skip_redirect_and_note_here_document(),
                _ => {
                    let word = self.read_word();
                    if words.len() < MAX_WORDS {
                        words.push(word);
                    } else {
                        self.unread = true;
                    }
                }
            }
        }
        !words.is_empty()
    }

    /// The position of a byte's next occurrence, or the end.
    fn find_or_end(&self, from: usize, what: u8) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        memchr::memchr(what, rest).map_or(self.text.len(), |i| from + i)
    }

    fn skip_redirect_and_note_here_document(&mut self) {
        if self.slice(self.at, self.at + 2) != "<<" || self.byte(self.at + 2) == Some(b'<') {
            while matches!(self.byte(self.at), Some(b'<' | b'>' | b'&')) {
                self.at += 1;
            }
            return;
        }
        self.at += 2;
        let tabs = self.byte(self.at) == Some(b'-');
        self.at += usize::from(tabs);
        while matches!(self.byte(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.byte(self.at).is_some_and(|b| !ends_word(b)) {
            let end = self.read_word();
            if self.documents.len() < MAX_DOCUMENTS {
                self.documents.push((end.text, tabs));
            } else {
                self.unread = true;
            }
        }
    }

    fn skip_here_documents(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.documents) {
            while self.at < self.text.len() {
                let line_end = self.find_or_end(self.at, b'\n');
                let line = self.slice(self.at, line_end);
                self.at = (line_end + 1).min(self.text.len());
                let line = line.strip_suffix('\r').unwrap_or(line);
                if end == if tabs { line.trim_start_matches('\t') } else { line } {
                    break;
                }
            }
        }
    }

    fn read_word(&mut self) -> Word<'t> {
        let start = self.at;
        let mut open = false;
        // The characters before `kept` are in `text`; from `kept` on the word is unchanged.
        let mut text: Option<String> = None;
        let mut kept = start;
        let keep = |text: &mut Option<String>, kept: usize, to: usize, part: &str| {
            let text = text.get_or_insert_default();
            text.push_str(self.text.get(kept..to).unwrap_or_default());
            text.push_str(part);
        };
        let mut at = start;
        while let Some(b) = self.byte(at) {
            match b {
                _ if ends_word(b) => break,
                b'\\' => {
                    let next = self.text.get(at + 1..).and_then(|rest| rest.chars().next());
                    let end = at + 1 + next.map_or(0, char::len_utf8);
                    let part = if next == Some('\n') { "" } else { self.slice(at + 1, end) };
                    keep(&mut text, kept, at, part);
                    (at, kept) = (end, end);
                }
                b'\'' => {
                    let end = self.find_or_end(at + 1, b'\'');
                    keep(&mut text, kept, at, self.slice(at + 1, end));
                    at = (end + 1).min(self.text.len());
                    kept = at;
                }
                b'"' => {
                    keep(&mut text, kept, at, "");
                    let (end, inner, inner_open) = self.read_double_quotes(at + 1);
                    keep(&mut text, end, end, &inner);
                    open |= inner_open;
                    (at, kept) = (end, end);
                }
                b'$' | b'`' => {
                    open = true;
                    at = self.end_of_expansion(at);
                }
                _ => at += 1,
            }
        }
        self.at = at;
        let raw = self.slice(start, at);
        let text = match text {
            Some(mut text) => {
                text.push_str(self.slice(kept, at));
                Cow::Owned(text)
            }
            None => Cow::Borrowed(raw),
        };
        Word { raw, text, open, at: start }
    }

    /// The content of double quotes that were opened before `from`: its end, the text, whether it is open.
    fn read_double_quotes(&self, from: usize) -> (usize, String, bool) {
        let (mut at, mut open, mut text) = (from, false, String::new());
        let mut kept = from;
        while let Some(b) = self.byte(at) {
            match b {
                b'"' => break,
                b'\\' => {
                    text.push_str(self.slice(kept, at));
                    let next = self.byte(at + 1);
                    // A backslash before any other character stays.
                    kept = at + usize::from(matches!(next, Some(b'"' | b'\\' | b'$' | b'`')));
                    at += 2;
                    if next == Some(b'\n') {
                        kept = at;
                    }
                }
                b'$' | b'`' => {
                    open = true;
                    at = self.end_of_expansion(at);
                }
                _ => at += 1,
            }
        }
        let end = at.min(self.text.len());
        text.push_str(self.slice(kept.min(end), end));
        ((end + 1).min(self.text.len()), text, open)
    }

    /// The end of an expression that starts with `$` or a backtick.
    fn end_of_expansion(&self, from: usize) -> usize {
        let (opens, closes) = match (self.byte(from), self.byte(from + 1)) {
            (Some(b'`'), _) => return (self.find_or_end(from + 1, b'`') + 1).min(self.text.len()),
            (_, Some(b'{')) => (b'{', b'}'),
            (_, Some(b'(')) => (b'(', b')'),
            _ => return from + 1,
        };
        let mut depth = 0_usize;
        let mut at = from + 1;
        while let Some(b) = self.byte(at) {
            at += 1;
            match b {
                b'\\' => at += 1,
                _ if b == opens => depth += 1,
                _ if b == closes => {
                    depth -= 1;
                    if depth == 0 {
                        return at.min(self.text.len());
                    }
                }
                _ => {}
            }
        }
        self.text.len()
    }
}

//! From the bytes of a file to its documents.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::document::{Document, DocumentOrError};
use super::input_error::InputError;
use super::node_tree::{Id, NodeKind, Tree};
use super::read_fault::ReadFault;
use super::read_yaml::Parsed;
use super::source_positions::Position;
use super::special_characters::BYTE_ORDER_MARK;
use super::split_documents::{Piece, WrongSeparator, pieces};
use super::{read_json, read_yaml, write_json, yaml_error_causes};

/// Most values of a stream of JSON values (count). They are decoded together, and each takes about a kilobyte.
const MAX_VALUES: usize = 100_000;

/// How far kubectl looks for the `{` at the start of a JSON stream (bytes): cli-runtime pkg/resource/visitor.go gives this
/// size to `NewYAMLOrJSONDecoder`.
const JSON_PREFIX: usize = 4096;

const NO_MAPPING: &str = "a manifest is a mapping with apiVersion and kind";

/// Reads one file's bytes: every document in order.
///
/// A broken document is an [`DocumentOrError::Error`]; the documents before and after it are still returned.
#[must_use]
pub fn read_documents_of_file(file: &str, bytes: &[u8]) -> Vec<DocumentOrError> {
    let file = Arc::from(file);
    let (mut items, _) = read_part_of_file(&file, bytes, 1);
    if items.is_empty() {
        items.push(DocumentOrError::Empty { file, index: 0, line: 1, reason: why_no_document(bytes) });
    }
    items
}

/// What a file without a document has instead.
#[must_use]
pub fn why_no_document(bytes: &[u8]) -> &'static str {
    if bytes.trim_ascii().is_empty() {
        "empty file"
    } else if only_comments(bytes) {
        "only comments"
    } else {
        "no document"
    }
}

/// Reads a part of a file that starts at a line: the first, or one that separates documents. The documents count from 0;
/// with the number of those that the part has, unreadable ones included.
#[must_use]
pub fn read_part_of_file(file: &Arc<str>, bytes: &[u8], line: u32) -> (Vec<DocumentOrError>, usize) {
    let mut stream = Stream { file: Arc::clone(file), bytes, items: Vec::new(), index: 0 };
    stream.run(Position { line, column: 1 });
    (stream.items, stream.index)
}

fn only_comments(bytes: &[u8]) -> bool {
    bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).all(|line| {
        line.is_empty() || line.starts_with(b"#") || line.starts_with(b"---") || line == b"\xef\xbb\xbf"
    })
}

struct Stream<'b> {
    file: Arc<str>,
    bytes: &'b [u8],
    items: Vec<DocumentOrError>,
    index: usize,
}

impl<'b> Stream<'b> {
    fn run(&mut self, origin: Position) {
        if self.bytes.starts_with(b"\xff\xfe") || self.bytes.starts_with(b"\xfe\xff") {
            let fault = ReadFault::of_our_limit(origin, "the file is UTF-16: save it as UTF-8");
            self.items.push(DocumentOrError::Error(InputError::new(&self.file, b"", 1, fault)));
            return;
        }
        let start = if self.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        // A part behind the first begins with a separator that ends the part before it.
        let continues = origin.line > 1;
        let (start, origin) = self.json_stream(start, origin);
        for piece in pieces(self.bytes, start, origin, continues) {
            self.add_document_or_error(piece);
        }
    }

    /// Reads JSON values from byte `start` as long as there are any, and returns where the YAML stream continues.
    ///
    /// kubectl (k8s.io/apimachinery, YAMLOrJSONDecoder) takes a stream that starts with `{` as JSON. At the first
    /// text that is not JSON it skips blanks up to the end of the line and continues as YAML, unless it has read two values:
    /// such a stream stays JSON.
    fn json_stream(&mut self, start: usize, origin: Position) -> (usize, Position) {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let prefix = rest.get(..rest.len().min(JSON_PREFIX)).unwrap_or_default();
        if !prefix.trim_ascii_start().starts_with(b"{") {
            return (start, origin);
        }
        let Ok(text) = std::str::from_utf8(self.bytes) else { return (start, origin) };
        let mut reader = read_json::Reader::new(text, start, origin);
        reader.skip_blanks_and_line_end();
        let mut resume = reader.here();
        let mut count = 0;
        while reader.skip_blanks() {
            let (from, at) = reader.here();
            if count == MAX_VALUES {
                let message = format!("more than {MAX_VALUES} JSON values in a row; split the file");
                self.add_error(text.as_bytes(), 1, ReadFault::of_our_limit(at, message));
                break;
            }
            match reader.read_value() {
                Ok((tree, root)) => {
                    count += 1;
                    let (end, _) = reader.here();
                    self.add_document(&tree, root, from..end, at.line);
                    reader.skip_blanks_and_line_end();
                    resume = reader.here();
                }
                Err(_) if count <= 1 => return resume,
                Err(fault) => {
                    self.add_error(text.as_bytes(), 1, fault);
                    return next_separator(self.bytes, from, at.line);
                }
            }
        }
        (self.bytes.len(), origin)
    }

    fn add_document_or_error(&mut self, piece: Piece) {
        let Piece { mut range, origin, separator, separator_is_kept } = piece;
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        // Files joined with `cat` may have a byte order mark at each start. Behind a separator that stays in the document, it
        // is not at the start for kubectl.
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if !separator_is_kept => {
                range.start += 3;
                rest
            }
            _ => bytes,
        };
        if let Some(wrong) = separator {
            // The text after such a line is not a separate document.
            let fault = fault_of_separator(&wrong);
            let before = self.bytes.get(..range.start).unwrap_or_default();
            let before = before.strip_suffix(b"\xef\xbb\xbf").unwrap_or(before);
            let before = before.strip_suffix(b"\n").unwrap_or(before);
            let line = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
            return self.add_error(line, fault.at.line, fault);
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let fault = not_utf8(bytes, error.valid_up_to(), origin);
                return self.add_error(bytes, origin.line, fault);
            }
        };
        let fault = odd_space_at_start(text, origin).or_else(|| byte_order_mark_inside(text, origin));
        if let Some(fault) = fault {
            return self.add_error(bytes, origin.line, fault);
        }
        // JSON too: after the first separator, kubectl reads every document with its YAML parser, which takes other
        // characters for the end of a line, and refuses long keys and halves of pairs.
        match read_yaml::parse(&lines_as_kubectl_ends_them(text), origin) {
            Ok(Parsed { root: None, .. }) => {}
            Ok(Parsed { tree, root: Some(root), trailing }) => {
                self.add_document(&tree, root, range, origin.line);
                if let Some(at) = trailing {
                    let message =
                        "kubectl ignores text after the end of a document: start a new document with `---`";
                    self.add_error(bytes, origin.line, ReadFault::new(at, message));
                }
            }
            Err(fault) => {
                let fault = match fault_of_json(text, origin) {
                    Some(of_json) => ReadFault { kubectl_may_read: fault.kubectl_may_read, ..of_json },
                    None => yaml_error_causes::replace_message_by_usual_cause(text, origin, fault),
                };
                self.add_error(bytes, origin.line, fault);
            }
        }
    }

    /// Adds the document below `root`; nothing for null, which kubectl skips.
    fn add_document(&mut self, tree: &Tree, root: Id, range: Range<usize>, first_line: u32) {
        let Some(node) = tree.get(root) else { return };
        let text = self.bytes.get(range.clone()).unwrap_or_default();
        let result = match node.kind {
            NodeKind::Null => return,
            NodeKind::Mapping(_) => write_json::write(tree, root, text.len()),
            _ => Err(ReadFault::new(node.at, NO_MAPPING)),
        };
        let line = node.at.line;
        let made = result.and_then(|written| {
            // The writer makes valid JSON, so this does not fail.
            let json = RawValue::from_string(written.json)
                .map_err(|error| ReadFault::of_our_limit(node.at, error.to_string()))?;
            Ok(Document {
                file: Arc::clone(&self.file),
                index: self.index,
                line,
                json,
                text: range,
                warnings: written.duplicates,
                positions: written.positions,
                shared: written.shared,
            })
        });
        match made {
            Ok(document) => {
                self.index += 1;
                self.items.push(DocumentOrError::Document(document));
            }
            Err(fault) => {
                let origin = Position { line: first_line, column: 1 };
                let fault = match std::str::from_utf8(text) {
                    Ok(text) => yaml_error_causes::replace_message_by_usual_cause(text, origin, fault),
                    Err(_) => fault,
                };
                self.add_error(text, first_line, fault);
            }
        }
    }

    fn add_error(&mut self, text: &[u8], first_line: u32, fault: ReadFault) {
        self.index += 1;
        self.items.push(DocumentOrError::Error(InputError::new(&self.file, text, first_line, fault)));
    }
}

fn fault_of_separator(wrong: &WrongSeparator) -> ReadFault {
    match *wrong {
        WrongSeparator::NoComment(at) => {
            ReadFault::new(at, "only a comment may follow the document separator `---`")
        }
        WrongSeparator::PartOfDocument(at, character) => {
            let code = u32::from(character);
            let message = format!(
                "kubectl reads this separator as a part of the document after it, because of U+{code:04X}: after `---`, \
                 write only blanks, and `#` with a comment of ordinary characters behind a blank"
            );
            ReadFault::of_our_limit(at, message)
        }
    }
}

/// A text as kubectl passes it to its YAML parser: without the carriage return at the end of each line
/// (k8s.io/apimachinery pkg/util/yaml, `LineReader`). A parser takes CR LF as one end of a line, so this matters only where
/// another carriage return stands before it.
fn lines_as_kubectl_ends_them(text: &str) -> Cow<'_, str> {
    if text.contains("\r\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// A document must not begin with a white space character other than blank, tab and the ends of lines. kubectl before 1.35
/// takes such a character for a part of the first key. kubectl 1.35 skips it in front of `{`, and after a JSON value
/// (k8s.io/apimachinery pkg/util/yaml, `consumeWhitespace`).
fn odd_space_at_start(text: &str, origin: Position) -> Option<ReadFault> {
    let mut at = origin;
    for c in text.chars() {
        match c {
            '\n' => at = Position { line: at.line.saturating_add(1), column: 1 },
            ' ' | '\t' | '\r' => at.column = at.column.saturating_add(1),
            c if c.is_whitespace() => {
                let code = u32::from(c);
                let message = format!(
                    "the document begins with the white space character U+{code:04X}, which some versions of kubectl skip: \
                     remove the character"
                );
                return Some(ReadFault::of_our_limit(at, message));
            }
            _ => return None,
        }
    }
    None
}

/// A document must not have a byte order mark behind its start. kubectl reads some such documents in another way than YAML
/// says: where go-yaml takes its buffer for one that begins with the mark, it drops the first character of each line, and
/// elsewhere the mark is a part of a plain scalar, also in front of `#` (yaml.v2 yamlprivateh.go, `is_bom`, and scannerc.go,
/// `yaml_parser_scan_to_next_token`). Where a buffer begins depends on all text before it, comments and quotes included.
fn byte_order_mark_inside(text: &str, origin: Position) -> Option<ReadFault> {
    let (before, _) = text.split_once(BYTE_ORDER_MARK)?;
    let message = "kubectl may read this document in another way because of the byte order mark U+FEFF behind its start: \
                   remove the mark, or write `\\uFEFF` in double quotes";
    Some(ReadFault::of_our_limit(position_behind(before, origin), message))
}

/// The position behind a text that begins at `origin`.
fn position_behind(text: &str, origin: Position) -> Position {
    match text.rsplit_once('\n') {
        Some((lines, last)) => Position {
            line: origin.line.saturating_add(count(lines.matches('\n').count())).saturating_add(1),
            column: count(last.chars().count()).saturating_add(1),
        },
        None => Position { column: origin.column.saturating_add(count(text.chars().count())), ..origin },
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What is wrong with a text that was meant as JSON, rather than as a YAML flow mapping. `None` for others, and for JSON that
/// only the YAML parser refuses.
fn fault_of_json(text: &str, origin: Position) -> Option<ReadFault> {
    let inside = text.trim_ascii_start().strip_prefix('{')?;
    if !inside.trim_ascii_start().starts_with('"') {
        return None;
    }
    let mut reader = read_json::Reader::new(text, 0, origin);
    reader.skip_blanks();
    if let Err(fault) = reader.read_value() {
        return Some(fault);
    }
    let more = reader.skip_blanks();
    let (_, at) = reader.here();
    more.then(|| ReadFault::new(at, "there is text after the JSON value: separate documents with `---`"))
}

fn not_utf8(bytes: &[u8], valid: usize, origin: Position) -> ReadFault {
    let good = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default());
    let byte = bytes.get(valid).copied().unwrap_or_default();
    let at = position_behind(&good, origin);
    ReadFault::of_our_limit(at, format!("byte 0x{byte:02x} is not UTF-8: save the file as UTF-8"))
}

/// The start of the next separator line from byte `at` on, which is in line `line`.
fn next_separator(bytes: &[u8], at: usize, line: u32) -> (usize, Position) {
    let mut start = at;
    let mut line = line;
    for text in bytes.get(at..).unwrap_or_default().split_inclusive(|b| *b == b'\n') {
        if text.starts_with(b"---") {
            break;
        }
        start += text.len();
        line = line.saturating_add(1);
    }
    (start, Position { line, column: 1 })
}

#[cfg(test)]
pub(super) mod tests;

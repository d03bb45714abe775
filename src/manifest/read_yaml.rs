//! YAML text to a node tree, through libyaml's events.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use libyaml_safer::{Encoding, EventData, MappingStyle, Mark, Parser, ScalarStyle, SequenceStyle};

use super::node_tree::{Id, MAX_DEPTH, MAX_NODES, NO_NODE, NodeKind, Tree};
use super::read_fault::ReadFault;
use super::repair_spellings_for_yaml_parser::RepairedText;
use super::source_positions::Position;
use super::special_characters::LINE_BREAKS;
use super::{catch_panic_of_yaml_parser, yaml_scalars};

/// The content of one text between two separators.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) tree: Tree,
    /// `None` for a text without a node: blank, or comments only.
    pub(super) root: Option<Id>,
    /// Text follows the end of the document; kubectl never reads it.
    pub(super) trailing: Option<Position>,
}

/// Reads one document. `origin` is the position of its first character; the text has no byte order mark.
pub(super) fn parse(text: &str, origin: Position) -> Result<Parsed, ReadFault> {
    let mut repair: Option<RepairedText> = None;
    loop {
        let source = repair.as_ref().map_or(text, RepairedText::text);
        let mut builder = Builder::new(source, origin, repair.as_ref());
        let stop = match builder.run() {
            Ok(()) => {
                return Ok(Parsed { tree: builder.tree, root: builder.root, trailing: builder.trailing });
            }
            Err(stop) => stop,
        };
        match stop {
            Stop::Fault(fault) => return Err(fault),
            Stop::Syntax(error) => {
                let at = error.problem_mark().and_then(|mark| usize::try_from(mark.index).ok());
                let mut fault = builder.syntax_fault(&error);
                // Only so many of these spellings are repaired.
                let not_repaired = error.problem() == "found unexpected ':'" && repair.is_some();
                fault.kubectl_may_read = not_repaired
                    || stops_at_character_of_tags(builder.text, &error)
                    || may_have_key_too_long_for_parser(text);
                let retry = match (at, &mut repair) {
                    (Some(at), Some(repair)) => {
                        repair.replace_character_that_stopped_parser(error.problem(), at)
                    }
                    (Some(at), empty) => RepairedText::new(text).is_some_and(|mut first| {
                        let applied = first.replace_character_that_stopped_parser(error.problem(), at);
                        *empty = Some(first);
                        applied
                    }),
                    (None, _) => false,
                };
                if !retry {
                    return Err(fault);
                }
            }
        }
    }
}

/// Whether the parser may refuse a key that kubectl reads. A key has at most 1024 characters: go-yaml counts characters
/// (yaml.v2 scannerc.go, `yaml_parser_stale_simple_keys`), and libyaml-safer counts bytes. What the parser finds wrong then
/// depends on the text around the key.
fn may_have_key_too_long_for_parser(text: &str) -> bool {
    let mut keys = text.split('\n').filter_map(|line| line.rsplit_once(':').map(|(key, _)| key));
    keys.any(|key| key.len() > 1024 && !key.is_ascii())
}

/// Whether the parser stops in a tag at a character that is a part of the tag for kubectl: `,`, `[` and `]` (yaml.v2 scannerc.go,
/// `yaml_parser_scan_tag_uri`).
fn stops_at_character_of_tags(text: &str, error: &libyaml_safer::Error) -> bool {
    let is_in_tag = matches!(error.context(), Some("while scanning a tag" | "while parsing a tag"));
    let at = error.problem_mark().and_then(|mark| usize::try_from(mark.index).ok());
    let rest = at.and_then(|at| text.get(at..));
    is_in_tag && rest.is_some_and(|rest| rest.starts_with([',', '[', ']']))
}

enum Stop {
    Syntax(libyaml_safer::Error),
    Fault(ReadFault),
}

/// Most directives `%TAG` of a document (count). Manifests have none.
const MAX_TAG_DIRECTIVES: usize = 64;

/// Longest directive `%TAG` (bytes).
const MAX_TAG_DIRECTIVE: usize = 1024;

/// A collection whose end has not been read yet.
struct Open {
    id: Id,
    last: Id,
    flow: bool,
}

struct Builder<'t> {
    text: &'t str,
    origin: Position,
    repair: Option<&'t RepairedText>,
    check_slash: bool,
    tree: Tree,
    open: Vec<Open>,
    anchors: HashMap<String, Id>,
    root: Option<Id>,
    last: Position,
    trailing: Option<Position>,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, origin: Position, repair: Option<&'t RepairedText>) -> Self {
        Self {
            text,
            origin,
            repair,
            check_slash: text.contains("\\/"),
            tree: Tree::default(),
            open: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            last: origin,
            trailing: None,
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        if let Some(fault) = self.too_many_or_long_tag_directives() {
            return Err(Stop::Fault(fault));
        }
        let mut parser = Parser::new();
        // The parser would take a first byte 0xEF, which many characters have, for that of a byte order mark.
        parser.set_encoding(Encoding::Utf8);
        // kubectl's line reader ends every line, the last one too, with a line feed. (libyaml-safer 0.3 also
        // panics on some texts that end in the middle of a line.)
        let end = if self.text.ends_with('\n') { "" } else { "\n" };
        parser.set_input(Source { now: self.text.as_bytes(), then: end.as_bytes() });
        loop {
            // Only the parser's panics: one of our own is a bug and must be visible. A parser that panicked is not
            // called again.
            let event = match catch_panic_of_yaml_parser::catch(|| parser.parse()) {
                Some(Ok(event)) => event,
                Some(Err(_)) if self.trailing.is_some() => return Ok(()),
                Some(Err(error)) => return Err(Stop::Syntax(error)),
                None => return Err(Stop::Fault(self.panicked())),
            };
            let (start, end) = (event.start_mark, event.end_mark);
            self.last = self.position(start);
            match event.data {
                EventData::StreamStart { .. } => {}
                EventData::StreamEnd => {
                    self.trailing = None;
                    return Ok(());
                }
                EventData::DocumentStart { version_directive, .. } => {
                    if self.trailing.is_some() {
                        self.trailing = Some(self.last);
                        return Ok(());
                    }
                    // go-yaml v2 reads only version 1.1.
                    if version_directive.is_some_and(|version| (version.major, version.minor) != (1, 1)) {
                        return Err(self.fault(start, "kubectl reads YAML 1.1 only: remove the %YAML line"));
                    }
                }
                // go-yaml reads one document and ignores the rest of its input, even if it is broken.
                EventData::DocumentEnd { .. } => self.trailing = Some(self.last),
                EventData::Alias { anchor } => {
                    let Some(&target) = self.anchors.get(&anchor) else {
                        return Err(self.fault(
                            start,
                            &format!("the document does not define the anchor `&{anchor}` before this alias"),
                        ));
                    };
                    // An alias to a collection that is still open would make it contain itself.
                    if self.open.iter().any(|open| open.id == target) {
                        return Err(
                            self.fault(start, &format!("the value of anchor `&{anchor}` contains itself"))
                        );
                    }
                    self.add(NodeKind::Alias(target), start)?;
                }
                EventData::Scalar { anchor, tag, mut value, plain_implicit, style, .. } => {
                    if let Some(repair) = self.repair {
                        repair.give_original_characters_back(&mut value, style);
                    }
                    self.check_scalar(&value, style, start, end)?;
                    let kind = yaml_scalars::value_of_scalar(tag.as_deref(), value, plain_implicit).map_err(
                        |message_with_profile_that_sets_value| {
                            self.fault(start, &message_with_profile_that_sets_value)
                        },
                    )?;
                    let id = self.add(kind, start)?;
                    self.record_anchor(anchor, id);
                }
                EventData::SequenceStart { anchor, style, .. } => {
                    self.open_collection(
                        NodeKind::Sequence(NO_NODE),
                        anchor,
                        style == SequenceStyle::Flow,
                        start,
                    )?;
                }
                EventData::MappingStart { anchor, style, .. } => {
                    self.open_collection(
                        NodeKind::Mapping(NO_NODE),
                        anchor,
                        style == MappingStyle::Flow,
                        start,
                    )?;
                }
                EventData::SequenceEnd | EventData::MappingEnd => {
                    self.open.pop();
                }
            }
        }
    }

    /// The parser compares each directive with all before it, and copies its text to each tag that uses it.
    fn too_many_or_long_tag_directives(&self) -> Option<ReadFault> {
        let starts_line = |at: usize| {
            let before = self.text.get(..at).and_then(|text| text.chars().next_back());
            before.is_none_or(|c| LINE_BREAKS.contains(&c))
        };
        let directives = self.text.match_indices("%TAG").filter(|(at, _)| starts_line(*at));
        for (number, (at, _)) in directives.enumerate() {
            let rest = self.text.get(at..).unwrap_or_default();
            let message = if number == MAX_TAG_DIRECTIVES {
                format!("a document has at most {MAX_TAG_DIRECTIVES} directives `%TAG`")
            } else if rest.find(LINE_BREAKS).unwrap_or(rest.len()) > MAX_TAG_DIRECTIVE {
                format!("a directive `%TAG` has at most {MAX_TAG_DIRECTIVE} bytes")
            } else {
                continue;
            };
            return Some(ReadFault::of_our_limit(self.origin, message));
        }
        None
    }

    /// libyaml-safer 0.3 panics on a tag that ends in a comma inside a flow collection. No other input is known.
    fn panicked(&self) -> ReadFault {
        let message = if self.text.contains('!') {
            "a YAML tag (`!…`) near here cannot be read: put a space between the tag and the comma"
        } else {
            "the YAML parser fails near here: write this part in another way, or as JSON"
        };
        ReadFault::of_our_limit(self.last, message)
    }

    /// Scalars that the parser accepts and kubectl refuses.
    fn check_scalar(&self, value: &str, style: ScalarStyle, start: Mark, end: Mark) -> Result<(), Stop> {
        let flow = self.open.last().is_some_and(|open| open.flow);
        if flow && style == ScalarStyle::Plain && value.contains('?') {
            // go-yaml ends a plain scalar in a flow collection at `?`.
            return Err(self.fault(start, "a value with `?` inside [] or {} needs quotes"));
        }
        if self.check_slash && style == ScalarStyle::DoubleQuoted && self.escapes_slash(start, end) {
            // JSON has this escape, YAML 1.1 does not.
            return Err(self.fault(start, "`\\/` is not an escape in YAML: write `/`"));
        }
        Ok(())
    }

    fn escapes_slash(&self, start: Mark, end: Mark) -> bool {
        let range = usize::try_from(start.index).unwrap_or(0)..usize::try_from(end.index).unwrap_or(0);
        let mut chars = self.text.get(range).unwrap_or_default().chars();
        while let Some(c) = chars.next() {
            if c == '\\' && chars.next() == Some('/') {
                return true;
            }
        }
        false
    }

    fn open_collection(
        &mut self,
        kind: NodeKind,
        anchor: Option<String>,
        flow: bool,
        start: Mark,
    ) -> Result<(), Stop> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.fault_of_our_limit(start, &format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let flow = flow || self.open.last().is_some_and(|open| open.flow);
        let id = self.add(kind, start)?;
        self.record_anchor(anchor, id);
        self.open.push(Open { id, last: NO_NODE, flow });
        Ok(())
    }

    fn add(&mut self, kind: NodeKind, start: Mark) -> Result<Id, Stop> {
        let at = self.position(start);
        let Some(id) = self.tree.push(kind, at) else {
            return Err(
                self.fault_of_our_limit(start, &format!("the document has more than {MAX_NODES} values"))
            );
        };
        match self.open.last_mut() {
            Some(parent) => {
                self.tree.append_child(parent.id, parent.last, id);
                parent.last = id;
            }
            None => self.root = Some(id),
        }
        Ok(id)
    }

    fn record_anchor(&mut self, anchor: Option<String>, id: Id) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
    }

    fn position(&self, mark: Mark) -> Position {
        let line = u32::try_from(mark.line).unwrap_or(u32::MAX);
        let column = u32::try_from(mark.column).unwrap_or(u32::MAX).saturating_add(1);
        Position {
            line: self.origin.line.saturating_add(line),
            column: if line == 0 { column.saturating_add(self.origin.column - 1) } else { column },
        }
    }

    fn fault(&self, mark: Mark, message: &str) -> Stop {
        Stop::Fault(ReadFault::new(self.position(mark), message))
    }

    fn fault_of_our_limit(&self, mark: Mark, message: &str) -> Stop {
        Stop::Fault(ReadFault::of_our_limit(self.position(mark), message))
    }

    fn syntax_fault(&self, error: &libyaml_safer::Error) -> ReadFault {
        let problem = error.problem();
        let context =
            error.context_mark().zip(error.context()).map(|(mark, text)| (self.position(mark), text));
        let Some(at) = error.problem_mark().map(|mark| self.position(mark)) else {
            return self.reader_fault(problem);
        };
        if problem == "found character that cannot start any token" {
            let rest =
                error.problem_mark().and_then(|mark| self.text.get(usize::try_from(mark.index).ok()?..));
            let message = match rest.and_then(|rest| rest.chars().next()) {
                Some('\t') => "a tab is not allowed here: use spaces".to_owned(),
                Some(c) => format!("a plain value cannot start with {c:?}: quote it"),
                None => problem.to_owned(),
            };
            return ReadFault::new(at, message);
        }
        let hint = match problem {
            "mapping values are not allowed in this context" => {
                ": check the indentation, and quote a value that contains `: `"
            }
            _ => "",
        };
        match context {
            // A missing character is reported where it is missing, not where the parser noticed: the end of the text,
            // or the line after the one without a colon.
            Some((opened, text)) if problem.contains("end of stream") || problem.contains("expected ':'") => {
                ReadFault::new(opened, format!("{problem} {text} that starts here"))
            }
            Some((opened, text)) if opened.line != at.line => {
                ReadFault::new(at, format!("{problem} {text} that starts at line {}{hint}", opened.line))
            }
            Some((_, text)) => ReadFault::new(at, format!("{problem} {text}{hint}")),
            None => ReadFault::new(at, format!("{problem}{hint}")),
        }
    }

    /// The reader's errors carry no position: they are about characters that no YAML text may have.
    fn reader_fault(&self, problem: &str) -> ReadFault {
        let mut at = self.origin;
        for c in self.text.chars() {
            let allowed = matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}')
                || c >= '\u{10000}';
            if !allowed {
                let message = format!("{problem} (U+{:04X})", u32::from(c));
                return ReadFault::new(at, message);
            }
            at = if c == '\n' {
                Position { line: at.line.saturating_add(1), column: 1 }
            } else {
                Position { column: at.column.saturating_add(1), ..at }
            };
        }
        ReadFault::new(self.origin, problem)
    }
}

/// Passes the text on in pieces: the parser keeps all its input as four-byte characters.
struct Source<'t> {
    now: &'t [u8],
    then: &'t [u8],
}

const PIECE: usize = 8 * 1024;

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.now.is_empty() {
            self.now = std::mem::take(&mut self.then);
        }
        let mut end = self.now.len().min(PIECE);
        // Not in the middle of a character: continuation bytes are 10xxxxxx.
        while end > 0 && self.now.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
        Ok(self.now.get(..end).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.now = self.now.get(amount..).unwrap_or_default();
    }
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let mut piece = self.fill_buf()?;
        let count = piece.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;

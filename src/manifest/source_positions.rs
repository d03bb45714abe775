//! Source positions, and the table that maps JSON text back to them.

/// A place in a source file, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Positions of the nodes of one document, keyed by the byte offset at which each node starts in the
/// document's JSON text.
///
/// Tens of thousands of documents are held at once and few of them are ever queried, so the table is a byte string of
/// differences (three to four bytes per node) that is decoded for each query, from the last mark before the node: a List
/// may have as many items as a large document has nodes.
#[derive(Debug, Default)]
pub(super) struct Positions {
    bytes: Box<[u8]>,
    marks: Box<[Mark]>,
}

/// Where decoding may start.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Place in the byte string.
    byte: usize,
    /// Offset and line of the node before it.
    offset: u32,
    line: u32,
}

/// Bytes of the table from one mark to the next.
const APART: usize = 4096;

/// Collects positions in the order in which the nodes are written.
#[derive(Default)]
pub(super) struct Recorder {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    offset: u32,
    line: u32,
}

impl Recorder {
    /// Records that the node whose text starts at `offset` has the position `at`. Offsets never decrease: a node is
    /// written before its children.
    pub(super) fn push(&mut self, offset: u32, at: Position) {
        if self.bytes.len() >= (self.marks.len() + 1) * APART {
            self.marks.push(Mark { byte: self.bytes.len(), offset: self.offset, line: self.line });
        }
        push_leb128(&mut self.bytes, offset.wrapping_sub(self.offset));
        let step = at.line.wrapping_sub(self.line).cast_signed();
        push_leb128(&mut self.bytes, ((step << 1) ^ (step >> 31)).cast_unsigned());
        push_leb128(&mut self.bytes, at.column);
        self.offset = offset;
        self.line = at.line;
    }

    pub(super) fn finish(self) -> Positions {
        Positions { bytes: self.bytes.into_boxed_slice(), marks: self.marks.into_boxed_slice() }
    }
}

impl Positions {
    /// Position of the node whose JSON text starts at `offset`.
    pub(super) fn at(&self, offset: usize) -> Option<Position> {
        let before = |mark: &Mark| usize::try_from(mark.offset).is_ok_and(|before| before < offset);
        let mark = self.marks.partition_point(before).checked_sub(1).and_then(|at| self.marks.get(at));
        let (byte, mut start, mut line) = mark.map_or((0, 0, 0), |m| (m.byte, m.offset, m.line));
        let mut bytes = self.bytes.get(byte..)?.iter();
        loop {
            start = start.wrapping_add(take_leb128(&mut bytes)?);
            let step = take_leb128(&mut bytes)?;
            line = line.wrapping_add((step >> 1) ^ (step & 1).wrapping_neg());
            let column = take_leb128(&mut bytes)?;
            let here = usize::try_from(start).ok()?;
            if here >= offset {
                return (here == offset).then_some(Position { line, column });
            }
        }
    }
}

/// Appends a number as LEB128: seven bits per byte, the top bit set on all but the last.
fn push_leb128(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take_leb128(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u32> {
    let mut value = 0u32;
    for shift in [0, 7, 14, 21, 28] {
        let byte = *bytes.next()?;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_and_only_at_node_starts() {
        let nodes =
            [(0, 1, 1), (1, 5, 3), (300, 2, 200), (70_000, 4_000_000_000, 1), (u32::MAX, 1, u32::MAX)];
        let mut recorder = Recorder::default();
        for (offset, line, column) in nodes {
            recorder.push(offset, Position { line, column });
        }
        let table = recorder.finish();
        for (offset, line, column) in nodes {
            assert_eq!(table.at(offset as usize), Some(Position { line, column }));
        }
        assert_eq!(table.at(2), None);
        assert_eq!(Positions::default().at(0), None);
    }

    #[test]
    fn marks_change_nothing() {
        let mut recorder = Recorder::default();
        let node = |i: u32| (i * 7, Position { line: 1 + i / 3, column: i % 50 });
        (0..10_000).map(node).for_each(|(offset, at)| recorder.push(offset, at));
        let table = recorder.finish();
        assert!(table.marks.len() > 5);
        for (offset, at) in (0..10_000).map(node) {
            assert_eq!(table.at(offset as usize), Some(at));
            assert_eq!(table.at(offset as usize + 1), None);
        }
    }
}

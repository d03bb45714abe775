//! Hunks between two versions of a YAML text whose top-level list has the same items in both.

use crate::cli::unified_diff_text::unified_diff_text;
use imara_diff::{Algorithm, Diff, Hunk, IndentHeuristic, IndentLevel, InternedInput, Interner, Token};
use std::borrow::Cow;
use std::ops::Range;

/// The unified diff of two texts, without the names of files.
///
/// Each item is compared with the same item of the other text, because no change moves a pod. A comparison goes through all of its
/// lines once for each change, so for a list as a whole its time would grow with the square of the number of pods.
pub(super) fn hunks(before: &str, after: &str) -> String {
    let (old, new) = (Items::of(before), Items::of(after));
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut first_of_old, mut first_of_new, mut above) = (0, 0, None);
    for number in 0..old.starts.len().max(new.starts.len()) {
        let below = new.item(number + 1).first().copied();
        let (of_old, of_new) = (old.item(number), new.item(number));
        if of_old != of_new {
            for hunk in hunks_of_item(of_old, of_new, above, below) {
                add_hunk(&mut hunks, moved_down(hunk, first_of_old, first_of_new));
            }
        }
        first_of_old += count(of_old);
        first_of_new += count(of_new);
        above = of_new.last().copied().or(above);
    }
    unified_diff_text(&hunks, [&old.lines, &new.lines], 0, Cow::Borrowed)
}

/// The lines of a text, and where each item of its top-level list begins, and each list of containers, which no change adds.
struct Items<'a> {
    lines: Vec<&'a str>,
    /// Numbers of lines. The first item is what comes before the list.
    starts: Vec<u32>,
}

impl<'a> Items<'a> {
    fn of(text: &'a str) -> Self {
        let (mut lines, mut starts) = (Vec::new(), vec![0]);
        for line in text.split_inclusive('\n') {
            if line.starts_with("- ") || line.trim() == "containers:" {
                starts.push(count(&lines));
            }
            lines.push(line);
        }
        Self { lines, starts }
    }

    /// The lines of an item; none behind the last one.
    fn item(&self, number: usize) -> &[&'a str] {
        let start = |number: usize| self.starts.get(number).map(|start| *start as usize);
        let Some(first) = start(number) else { return &[] };
        self.lines.get(first..start(number + 1).unwrap_or(self.lines.len())).unwrap_or_default()
    }
}

/// A line that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Line<'a> {
    Own(&'a str),
    /// The lines around an item, the same for both texts: where equal lines follow each other, the indentation around them decides which
    /// of them is the new one.
    Above(&'a str),
    Below(&'a str),
}

/// The hunks of one item, by the numbers of its own lines.
fn hunks_of_item(old: &[&str], new: &[&str], above: Option<&str>, below: Option<&str>) -> Vec<Hunk> {
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(0) };
    input.update_before(between(above, old, below));
    input.update_after(between(above, new, below));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    let indent = |token: Token| {
        let (Line::Own(line) | Line::Above(line) | Line::Below(line)) = input.interner[token];
        IndentLevel::for_ascii_line(line.bytes(), 8)
    };
    diff.postprocess_with_heuristic(&input, IndentHeuristic::new(indent));
    let first = u32::from(above.is_some());
    let own = |lines: Range<u32>| lines.start - first..lines.end - first;
    diff.hunks().map(|hunk| Hunk { before: own(hunk.before), after: own(hunk.after) }).collect()
}

fn between<'a>(
    above: Option<&'a str>,
    own: &[&'a str],
    below: Option<&'a str>,
) -> impl Iterator<Item = Line<'a>> {
    let own = own.iter().map(|line| Line::Own(line));
    above.map(Line::Above).into_iter().chain(own).chain(below.map(Line::Below))
}

fn count(lines: &[&str]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

fn moved_down(hunk: Hunk, old: u32, new: u32) -> Hunk {
    let by =
        |lines: Range<u32>, first: u32| first.saturating_add(lines.start)..first.saturating_add(lines.end);
    Hunk { before: by(hunk.before, old), after: by(hunk.after, new) }
}

/// Adds a hunk. If an item ends with a change and the next one begins with one, both are one change.
fn add_hunk(hunks: &mut Vec<Hunk>, next: Hunk) {
    match hunks.last_mut() {
        Some(last) if last.before.end == next.before.start && last.after.end == next.after.start => {
            last.before.end = next.before.end;
            last.after.end = next.after.end;
        }
        _ => hunks.push(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Numbers that look random, the same in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % bound
        }
    }

    /// A List of pods, and the same with lines added, changed and removed inside of items.
    fn two_lists(numbers: &mut Numbers) -> (String, String) {
        let mut texts = ["kind: List\nitems:\n".to_owned(), "kind: List\nitems:\n".to_owned()];
        for pod in 0..numbers.below(6) {
            let name = pod * numbers.below(2);
            let mut item: Vec<String> =
                format!("- kind: Pod\n  metadata:\n    name: p{name}\n  spec:\n    containers:\n")
                    .split_inclusive('\n')
                    .map(str::to_owned)
                    .collect();
            item.extend((0..numbers.below(12)).map(|_| format!("    - name: c{}\n", numbers.below(4))));
            texts[0] += &item.concat();
            for _ in 0..numbers.below(4) {
                let at = 1 + numbers.below(item.len());
                match numbers.below(3) {
                    0 if at < item.len() && !item[at].contains("containers") => drop(item.remove(at)),
                    1 => item.insert(at, format!("    - name: c{}\n", numbers.below(4))),
                    _ => item.insert(at, "    new: line\n".to_owned()),
                }
            }
            texts[1] += &item.concat();
        }
        let [before, after] = texts;
        (before, after)
    }

    /// Applies a diff as `patch` does, but only at the lines that it names.
    fn apply(before: &str, diff: &str) -> String {
        let mut rest = before.split_inclusive('\n');
        let (mut after, mut read, mut written) = (String::new(), 0, 0);
        for line in diff.split_inclusive('\n') {
            let (sign, text) = line.split_at(1);
            if sign == "@" {
                let numbers: Vec<usize> =
                    text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
                while read + 1 < numbers[0] {
                    after += rest.next().unwrap();
                    (read, written) = (read + 1, written + 1);
                }
                let start = |number: usize, lines: usize| number + usize::from(lines == 0);
                let starts = (start(numbers[0], numbers[1]), start(numbers[2], numbers[3]));
                assert_eq!((read + 1, written + 1), starts, "{diff}");
                continue;
            }
            if sign != "+" {
                assert_eq!(rest.next(), Some(text), "{diff}");
                read += 1;
            }
            if sign != "-" {
                after += text;
                written += 1;
            }
        }
        after.extend(rest);
        after
    }

    #[test]
    fn the_diff_leads_from_one_text_to_the_other() {
        let mut numbers = Numbers(1);
        for _ in 0..2_000 {
            let (before, after) = two_lists(&mut numbers);
            let diff = hunks(&before, &after);
            assert_eq!(apply(&before, &diff), after, "{before}{diff}");
            assert_eq!(diff, hunks_of_whole(&before, &after));
        }
    }

    /// The same by one comparison of the texts as a whole.
    fn hunks_of_whole(before: &str, after: &str) -> String {
        let (old, new) = (Items::of(before), Items::of(after));
        let numbered = |items: &Items<'_>| {
            let lines = |item: usize| items.item(item).iter().map(move |line| (item, (*line).to_owned()));
            (0..items.starts.len()).flat_map(lines).collect::<Vec<(usize, String)>>()
        };
        let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(0) };
        input.update_before(numbered(&old).into_iter());
        input.update_after(numbered(&new).into_iter());
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        let indent = |token: Token| IndentLevel::for_ascii_line(input.interner[token].1.bytes(), 8);
        diff.postprocess_with_heuristic(&input, IndentHeuristic::new(indent));
        let hunks: Vec<Hunk> = diff.hunks().collect();
        unified_diff_text(&hunks, [&old.lines, &new.lines], 0, Cow::Borrowed)
    }

    #[test]
    fn an_item_may_begin_or_end_with_changes() {
        let before = "items:\n- a: 1\n- a: 1\n- a: 1\n";
        let after = "items:\n- a: 1\n  b: 1\n- a: 2\n- a: 1\n  b: 1\n";
        let diff = hunks(before, after);
        assert_eq!(diff, "@@ -1,4 +1,6 @@\n items:\n - a: 1\n-- a: 1\n+  b: 1\n+- a: 2\n - a: 1\n+  b: 1\n");
        assert_eq!(apply(before, &diff), after);
        assert_eq!(hunks(before, before), "");
        assert_eq!(hunks("", "a: 1\n"), "@@ -0,0 +1,1 @@\n+a: 1\n");
    }

    /// A List of pods, and the same with a line that each pod gets.
    fn pods(number: usize) -> (String, String) {
        let list = |added: &str| -> String {
            let pod = |i| {
                format!(
                    "- kind: Pod\n  metadata:\n    name: p{i}\n{added}  spec:\n    containers:\n    - name: c\n"
                )
            };
            (0..number).map(pod).collect()
        };
        (list(""), list("    labels: {}\n"))
    }

    #[test]
    fn the_time_grows_with_the_number_of_pods_and_not_with_its_square() {
        let time = |number: usize| {
            let (before, after) = pods(number);
            let once = || {
                let began = Instant::now();
                assert_eq!(hunks(&before, &after).matches("\n+").count(), number);
                began.elapsed()
            };
            (0..3).map(|_| once()).min().unwrap_or_default()
        };
        let (few, many) = (time(250), time(4_000));
        // In proportion it is 16 times as much; the square gives 256.
        assert!(many < few * 60, "{few:?} for 250 pods, {many:?} for 4,000");
    }
}

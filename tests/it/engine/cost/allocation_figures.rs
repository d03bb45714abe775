//! Allocations of ten reviews (`benches/guard/reviews.rs`), compared with benches/guard/allocations.txt. Unlike time, their
//! number is the same on every machine. More than 3 % above a figure is a failure; `UPDATE_GOLDEN=1` writes the figures.

#[path = "../../../../benches/guard/reviews.rs"]
mod reviews;
#[path = "../../../../benches/scene/mod.rs"]
mod scene;

use crate::support::suite::Outcome;
use crate::support::{read, root, updating};
use reviews::{reviews, snapshot};
use std::fmt::Write;

/// How much a figure may grow, in percent.
const MOST: u64 = 3;

const HEAD: &str = "\
# Allocations of a decision and its answer in a debug build: number, bytes, most bytes at one time.
";

pub(super) fn allocations() -> Outcome {
    let file = root().join("benches/guard/allocations.txt");
    let known = read(&file).unwrap_or_default();
    let snapshot = snapshot();
    let (mut text, mut grown) = (HEAD.to_owned(), Vec::new());
    for review in reviews() {
        // What is made once in a process, or for a snapshot, is made now.
        review.answer(&snapshot);
        let took = allocation_counter::measure(|| {
            review.answer(&snapshot);
        });
        let now = [took.count_total, took.bytes_total, took.bytes_max];
        let [count, bytes, most] = now;
        text += &format!("{count:>5} {bytes:>8} {most:>8}  {} ({} bytes)\n", review.name, review.bytes());
        let line = known.lines().find(|line| line.contains(&format!("  {} (", review.name)));
        let before =
            line.map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).take(3).collect());
        let before: Vec<u64> = before.unwrap_or_default();
        let within = |(now, before): (&u64, &u64)| now * 100 <= before * (100 + MOST);
        if before.len() != 3 || !now.iter().zip(&before).all(within) {
            grown.push(format!("{}: {before:?} before, {now:?} now", review.name));
        }
    }
    if updating() {
        std::fs::write(&file, text).map_err(|e| e.to_string())?;
        return page();
    }
    if grown.is_empty() { Ok(()) } else { Err(grown.join("\n").into()) }
}

/// The table in docs/performance.md is made of the two files of figures.
pub(super) fn page() -> Outcome {
    const MARKS: [&str; 2] = ["<!-- figures of benches/guard -->\n\n", "\n<!-- end of the figures -->"];
    let (instructions, allocations) = (
        read(&root().join("benches/guard/instructions.txt"))?,
        read(&root().join("benches/guard/allocations.txt"))?,
    );
    let mut table =
        "| review | instructions | allocations | allocated bytes | most bytes at one time |\n".to_owned();
    table += "| --- | --- | --- | --- | --- |\n";
    for line in instructions.lines().filter(|line| !line.starts_with('#')) {
        let (count, review) = line.trim().split_once("  ").ok_or("a line without a name")?;
        let others = allocations.lines().find(|line| line.ends_with(&format!("  {review}")));
        let others = others.ok_or_else(|| format!("no allocations of {review}"))?;
        let cells: Vec<String> = std::iter::once(count)
            .chain(others.split_whitespace().take(3))
            .map(|number| number.parse().map(grouped))
            .collect::<Result<_, _>>()
            .map_err(|e| format!("{review}: {e}"))?;
        writeln!(table, "| {review} | {} |", cells.join(" | ")).map_err(|e| e.to_string())?;
    }
    let file = root().join("docs/performance.md");
    let page = read(&file)?;
    let (before, rest) = page.split_once(MARKS[0]).ok_or("docs/performance.md lacks its marks")?;
    let (now, after) = rest.split_once(MARKS[1]).ok_or("docs/performance.md lacks its marks")?;
    if updating() {
        let text = format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]);
        return Ok(std::fs::write(&file, text).map_err(|e| e.to_string())?);
    }
    if now == table { Ok(()) } else { Err("UPDATE_GOLDEN=1 writes the table of docs/performance.md".into()) }
}

/// 12345 as 12,345.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

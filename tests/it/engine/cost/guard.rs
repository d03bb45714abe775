//! Allocations of ten reviews (`benches/scene/reviews.rs`), compared with benches/guard/allocations.txt. Unlike time, their
//! number is the same on every machine. More than 3 % above a figure is a failure; `UPDATE_GOLDEN=1` writes the figures.

#[path = "../../../../benches/guard/reviews.rs"]
mod reviews;
#[path = "../../../../benches/scene/mod.rs"]
mod scene;

use crate::support::suite::Outcome;
use crate::support::{read, root, updating};
use reviews::{reviews, snapshot};

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
        return Ok(std::fs::write(&file, text).map_err(|e| e.to_string())?);
    }
    if grown.is_empty() { Ok(()) } else { Err(grown.join("\n").into()) }
}

//! The estimate as a table.

use super::Step;
use super::json::{Document, FabricEntry};
use std::io::{self, Write};

/// Writes the estimate.
///
/// # Errors
/// Those of the writer.
pub fn write(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let step = &document.step;
    writeln!(
        out,
        "{} parameters in {}: {} of gradients in each step; {} GPUs; compute {}",
        scaled(step.parameters, &["", "k", "M", "B", "T"]),
        step.precision,
        bytes(step.gradient_bytes),
        step.gpus,
        seconds(step.compute_seconds)
    )?;
    writeln!(out)?;
    let hours = step.iterations.is_some();
    let mut head: Vec<&str> =
        vec!["fabric", "throughput", "all-reduce", "GPUs busy", "ring", "busy", "tree", "ring overlapped"];
    if hours {
        head.push("training");
    }
    head.push("verdict");
    let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
    rows.extend(document.fabrics.iter().map(row));
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len))
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    if let Some(iterations) = step.iterations {
        writeln!(out, "\ntraining: {iterations} steps, by the simple formulas")?;
    }
    writeln!(out, "\nAssumptions")?;
    document.assumptions.iter().try_for_each(|assumption| writeln!(out, "- {assumption}"))
}

/// A step on one fabric, in a part of a line.
#[must_use]
pub fn one_line(step: &Step, throughput: f64) -> String {
    let time = step.all_reduce(throughput).simple;
    let verdict = step.verdict(time).name();
    format!("all-reduce {}, GPUs busy {}, {verdict}", seconds(time), percent(step.utilisation(time)))
}

fn row(fabric: &FabricEntry) -> Vec<String> {
    let mut cells = vec![
        fabric.title.clone(),
        format!("{}/s", bytes(fabric.bytes_per_second)),
        seconds(fabric.simple_seconds),
        percent(fabric.utilisation),
        seconds(fabric.ring_seconds),
        percent(fabric.ring_utilisation),
        seconds(fabric.tree_seconds),
        percent(fabric.overlapped_utilisation),
    ];
    cells.extend(fabric.hours.map(|hours| format!("{} h", short(hours))));
    cells.push(fabric.verdict.to_owned());
    cells
}

/// One decimal below 10, none from 10 on.
fn short(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn percent(share: f64) -> String {
    format!("{}%", short(share * 100.0))
}

fn bytes(value: f64) -> String {
    scaled(value, &[" B", " kB", " MB", " GB", " TB", " PB"])
}

fn scaled(value: f64, units: &[&str]) -> String {
    let (mut value, mut units) = (value, units.iter());
    let mut unit = units.next().copied().unwrap_or_default();
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1000.0, next);
    }
    let number = short(value);
    format!("{}{unit}", number.strip_suffix(".0").unwrap_or(&number))
}

fn seconds(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v < 0.000_999_5 => format!("{} µs", short(v * 1e6)),
        v if v < 0.999_5 => format!("{} ms", short(v * 1e3)),
        v if v < 599.5 => format!("{} s", short(v)),
        v => format!("{} min", short(v / 60.0)),
    }
}

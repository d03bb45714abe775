//! A networks annotation in a line for people.

use crate::multus::{RequestedAttachment, parse_all};

/// The networks of an annotation, with repetitions counted: `default/net x8 (rail0 to rail7)`.
pub(super) fn summary_of_networks_annotation(value: &str) -> String {
    let Ok(networks) = parse_all(value) else { return value.to_owned() };
    let name = |s: &RequestedAttachment<'_>| match &s.namespace {
        Some(namespace) => format!("{namespace}/{}", s.name),
        None => s.name.to_string(),
    };
    let groups = networks.items.chunk_by(|a, b| {
        a.name == b.name && a.namespace == b.namespace && a.interface.is_some() == b.interface.is_some()
    });
    let words = groups.map(|group| match group {
        [one] => one.short_form(),
        [first, ..] => {
            let interfaces: Vec<&str> = group.iter().filter_map(|s| s.interface.as_deref()).collect();
            format!("{} x{}{}", name(first), group.len(), range(&interfaces))
        }
        [] => String::new(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Interface names in brackets: a range if they count up, else each name.
fn range(interfaces: &[&str]) -> String {
    let parts = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let number = name.strip_prefix(stem.as_str())?.parse::<u64>().ok()?;
        Some((stem, number))
    };
    let counts_up = interfaces.windows(2).all(|pair| match pair {
        [a, b] => parts(a).zip(parts(b)).is_some_and(|(a, b)| a.0 == b.0 && a.1 + 1 == b.1),
        _ => false,
    });
    match interfaces {
        [] => String::new(),
        [first, .., last] if counts_up => format!(" ({first} to {last})"),
        each => format!(" ({})", each.join(", ")),
    }
}

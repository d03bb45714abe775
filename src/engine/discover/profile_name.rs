//! Names of profiles: the accelerator and the fabric, such as `h100-roce`.

use super::node_as_shown::{GKE_ACCELERATOR, Node, PRODUCT};
use std::collections::{BTreeMap, BTreeSet};

/// Beginnings of the names of accelerators.
const MODELS: [&str; 9] = ["gb", "b", "h", "a", "l", "v", "t", "mi", "gh"];

/// The model in a label of the node, such as `h100` in `NVIDIA-H100-80GB-HBM3`.
fn model(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    words.filter(|word| word.len() <= 8).find(|word| {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let head = word.strip_suffix(digits).unwrap_or_default();
        let number = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        (2..=4).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
            && MODELS.contains(&head)
    })
}

fn short(node: &Node) -> Option<String> {
    let labels = [PRODUCT, "amd.com/gpu.product-name", "gpu.nvidia.com/model", GKE_ACCELERATOR];
    let by_label = labels.iter().find_map(|key| model(node.label(key)?));
    let by_type = || {
        let of = node.instance_type()?;
        let first = of.trim_start_matches("ml.").split(['.', '_', '-']).next()?;
        model(of).or_else(|| Some(first.to_ascii_lowercase()).filter(|word| !word.is_empty()))
    };
    by_label.or_else(by_type)
}

/// The names of profiles.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    /// The next number behind a name.
    next: BTreeMap<String, u64>,
}

/// A name that no other profile has.
pub(super) fn new_name_for_nodes(nodes: &[&Node], suffix: &str, names: &mut Names) -> String {
    let models: BTreeSet<String> = nodes.iter().filter_map(|node| short(node)).collect();
    let models: Vec<&str> = models.iter().map(String::as_str).take(2).collect();
    let head = if models.is_empty() { "gpu".to_owned() } else { models.join("-") };
    let clean = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let stem: String = format!("{head}-{suffix}").chars().map(clean).collect();
    let Names { taken, next } = names;
    let next = next.entry(stem.clone()).or_insert(1);
    // All names with smaller numbers are taken.
    loop {
        let name = if *next == 1 { stem.clone() } else { format!("{stem}-{next}") };
        *next += 1;
        if taken.insert(name.clone()) {
            return name;
        }
    }
}

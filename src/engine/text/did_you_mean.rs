//! Which known name was probably meant by one that is not known.

/// Most characters of a name that are compared: the cost is the product of two lengths, and names come from outside.
const MAX_COMPARED_CHARACTERS: usize = 64;

/// The nearest of some names, if one is near enough to be the intended one. Two swapped letters count as one mistake.
pub fn nearest_if_probably_meant<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = |name: &str| 2.max(name.len() / 3);
    let near = |name: &'a str| Some((distance(wanted, name, most(name))?, name));
    names.filter_map(near).min().map(|(_, name)| name)
}

/// The mistakes between two names, where they are at most `most`. Names whose lengths differ by more are not compared.
fn distance(wanted: &str, name: &str, most: usize) -> Option<usize> {
    let (wanted, name) = (start(wanted), start(name));
    // Lengths in letters; a letter of UTF-8 has up to four bytes.
    let (a, b) = (wanted.len(), name.len());
    if a.min(b) + most < a.max(b) && wanted.chars().count().abs_diff(name.chars().count()) > most {
        return None;
    }
    Some(strsim::osa_distance(wanted, name)).filter(|mistakes| *mistakes <= most)
}

/// The name that a misspelt one was probably meant to be. It is nearer than [`nearest_if_probably_meant`] asks, and not another number of a
/// series: `H200` is not a misspelt `H100`. A label key may also lack its domain.
pub fn name_meant_by_misspelt<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let pattern = series(wanted);
    let near = |name: &str| {
        let bare = name.split_once('/').is_some_and(|(_, bare)| bare == wanted);
        let most = 1.max(name.len() / 6);
        bare || name.len() > 3 && distance(wanted, name, most).is_some() && series(name) != pattern
    };
    let found = names.filter(|name| *name != wanted && near(name));
    found.min_by_key(|name| (strsim::osa_distance(start(wanted), start(name)), *name))
}

/// A name with one `0` for each number.
fn series(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        match c.is_ascii_digit() {
            true if pattern.ends_with('0') => {}
            true => pattern.push('0'),
            false => pattern.push(c),
        }
    }
    pattern
}

/// The first characters of a name.
fn start(name: &str) -> &str {
    name.char_indices().nth(MAX_COMPARED_CHARACTERS).and_then(|(end, _)| name.get(..end)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_intended_name() {
        let names = ["roce-sriov", "roce-macvlan", "ethernet-tcp"];
        assert_eq!(nearest_if_probably_meant("roce-sirov", names.into_iter()), Some("roce-sriov"));
        assert_eq!(nearest_if_probably_meant("ethernettcp", names.into_iter()), Some("ethernet-tcp"));
        assert_eq!(nearest_if_probably_meant("quantum", names.into_iter()), None);
        assert_eq!(nearest_if_probably_meant("spce", ["sepc", "spec"].into_iter()), Some("spec"));
        assert_eq!(start(&"é".repeat(100)).chars().count(), MAX_COMPARED_CHARACTERS);
    }

    #[test]
    fn suggests_a_spelling_but_no_other_number() {
        let names = ["NVIDIA-H100-80GB-HBM3", "NVIDIA-H200", "roce", "ib", "example.com/fabric", "rack-12"];
        for (wanted, meant) in [
            ("NVIDIA-H100-80GB-HBM", Some("NVIDIA-H100-80GB-HBM3")),
            ("NVIDIA-H300", None),
            ("rack-13", None),
            ("Roce", Some("roce")),
            ("roec", Some("roce")),
            ("id", None),
            ("fabric", Some("example.com/fabric")),
            ("example.com/fabrics", Some("example.com/fabric")),
            ("roce", None),
        ] {
            assert_eq!(name_meant_by_misspelt(wanted, names.into_iter()), meant, "{wanted}");
        }
    }
}

//! Which known name was probably meant by one that is not known.

use super::edit_distance::ComparedName;

/// The nearest of some names, if one is near enough to be the intended one. Two swapped letters count as one mistake.
pub fn nearest_if_probably_meant<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = |name: &str| 2.max(name.len() / 3);
    let wanted = ComparedName::new(wanted);
    let near = |name: &'a str| Some((wanted.mistakes(name, most(name))?, name));
    names.filter_map(near).min().map(|(_, name)| name)
}

/// The name that a misspelt one was probably meant to be. It is nearer than [`nearest_if_probably_meant`] asks, and not another number of a
/// series: `H200` is not a misspelt `H100`. A label key may also lack its domain.
pub fn name_meant_by_misspelt<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let compared = ComparedName::new(wanted);
    let near = |name: &'a str| {
        let most = match name.split_once('/') {
            Some((_, bare)) if bare == wanted => name.len(),
            _ if name.len() > 3 => 1.max(name.len() / 6),
            _ => return None,
        };
        let mistakes = compared.mistakes(name, most)?;
        (series(name).ne(series(wanted))).then_some((mistakes, name))
    };
    names.filter(|name| *name != wanted).filter_map(near).min().map(|(_, name)| name)
}

/// The characters of a name, with one `0` for each number.
fn series(name: &str) -> impl Iterator<Item = char> {
    let mut in_number = false;
    name.chars().filter_map(move |c| {
        let goes_on = in_number && c.is_ascii_digit();
        in_number = c.is_ascii_digit();
        (!goes_on).then_some(if in_number { '0' } else { c })
    })
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

//! Names that no program reads: the intended name, where that can be found. The programs themselves never notice a
//! typo in such a name; they use the default.
//!
//! The bounds were chosen by trial: with the lists of releases up to seven years back as the known names, 1 to 2 of
//! 100 later names were reported as a typo, and 989 of 1000 single slips in documented names were corrected. A wider
//! distance would treble the false ones.

use super::variable_table::{Status, Variable, all_variables, find_variable};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The result for a name that no program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Older releases read it.
    Removed(&'static Variable),
    /// A common wrong name of another variable.
    Misname(&'static Variable),
    /// The switch exists inverted, so that the value must be inverted too.
    Opposite(&'static Variable),
    /// Only one name is near enough to be the intended one.
    Typo(&'static Variable),
    /// No similar name is known.
    Unknown,
}

/// Prefixes whose names are known well enough to distinguish a slip from a name that the table lacks.
const PREFIXES_WITH_COMPLETE_TABLE: [&str; 5] = ["TORCH_NCCL_", "OFI_NCCL_", "FI_EFA_", "RCCL_", "NCCL_"];
/// Prefixes of names of scripts, images and closed plugins.
const PREFIXES_OF_OTHER_PROGRAMS: [&str; 10] = [
    "NCCL_TEST_",
    "NCCL_TESTS_",
    "NCCL_GIB_",
    "NCCL_SHIMNET_",
    "NCCL_FASTRAK_",
    "NCCL_GPUDIRECTTCPX_",
    "NCCL_INSPECTOR_",
    "NCCL_PROFILE",
    "NCCL_SHARP_",
    "NCCL_UCX_",
];
/// Longest name that is checked for a slip; the longest known name has 60 characters.
const MAX_NAME_CHECKED_FOR_SLIPS: usize = 72;

/// Common wrong names, and the intended ones.
static MISNAMES: LazyLock<BTreeMap<&'static str, &'static Variable>> = LazyLock::new(|| {
    let named = |v: &'static Variable| v.misnames.split(',').filter(|n| !n.is_empty()).map(move |n| (n, v));
    all_variables().flat_map(named).filter(|(name, _)| find_variable(name).is_none()).collect()
});

/// The variables that a program reads, and the pairs of letters of their names.
static PAIRS: LazyLock<Vec<(&'static Variable, u128)>> = LazyLock::new(|| {
    all_variables().filter(|v| is_read(v)).map(|v| (v, letter_pairs_as_bits(v.name))).collect()
});

/// The result for a name; `None` if a program reads it, or if it is not for us to judge.
#[must_use]
pub fn why_name_is_unread(name: &str) -> Option<Unread> {
    if let Some(known) = find_variable(name) {
        return (known.status == Status::Removed).then_some(Unread::Removed(known));
    }
    if let Some(meant) = MISNAMES.get(name) {
        let turned = |a: &str, b: &str| name.contains(a) && meant.name.contains(b);
        let opposite = turned("ENABLE", "DISABLE") || turned("DISABLE", "ENABLE");
        return Some(if opposite { Unread::Opposite(meant) } else { Unread::Misname(meant) });
    }
    let prefix = PREFIXES_WITH_COMPLETE_TABLE.into_iter().find(|p| name.starts_with(p))?;
    if name.len() > MAX_NAME_CHECKED_FOR_SLIPS || !name.is_ascii() {
        return (prefix == "NCCL_").then_some(Unread::Unknown);
    }
    // Before distances: by letters, the nearest name to NCCL_P2P_ENABLE is NCCL_PAT_ENABLE.
    if let Some(opposite) = variable_with_inverted_switch(name) {
        return Some(Unread::Opposite(opposite));
    }
    if let Some(near) = only_near_name(name, prefix).or_else(|| only_known_name_that_continues(name, prefix))
    {
        return Some(Unread::Typo(near));
    }
    let foreign =
        name.ends_with("TELEMETRY_MODE") || PREFIXES_OF_OTHER_PROGRAMS.iter().any(|p| name.starts_with(p));
    (prefix == "NCCL_" && !foreign).then_some(Unread::Unknown)
}

fn variable_with_inverted_switch(name: &str) -> Option<&'static Variable> {
    let other = match name.strip_suffix("_ENABLE") {
        Some(stem) => format!("{stem}_DISABLE"),
        None => format!("{}_ENABLE", name.strip_suffix("_DISABLE")?),
    };
    find_variable(&other).filter(|v| is_read(v))
}

fn is_read(v: &Variable) -> bool {
    !matches!(v.status, Status::Removed | Status::Other)
}

/// The one name that is near enough, by the length of the part after the prefix.
fn only_near_name(name: &str, prefix: &str) -> Option<&'static Variable> {
    let most = match name.len() - prefix.len() {
        0..4 => return None,
        4..9 => 1,
        _ => 2,
    };
    let mut best: Option<(usize, &Variable, bool)> = None;
    let own = letter_pairs_as_bits(name);
    for (known, pairs) in PAIRS.iter().filter(|(v, _)| v.name.starts_with(prefix)) {
        // Two letters swapped change three pairs, the other slips two, and each changed pair is one bit on either side at
        // most.
        let differ = (own ^ pairs).count_ones() as usize;
        if known.name.len().abs_diff(name.len()) > most || differ > 6 * most {
            continue;
        }
        let Some(distance) = slips_between(name.as_bytes(), known.name.as_bytes(), most) else { continue };
        match best {
            Some((least, _, _)) if distance > least => {}
            Some((least, first, _)) if distance == least => best = Some((least, first, true)),
            _ => best = Some((distance, known, false)),
        }
    }
    best.filter(|(_, _, tied)| !tied).map(|(_, known, _)| known)
}

/// The slips between two names, where they are at most `most`: a letter more, less or different, or two letters swapped,
/// each place at most once (optimal string alignment). With one or two slips, what is equal is skipped, and a few ways are
/// tried at each place that differs. A table of all distances, as crates make it, takes a hundred times as long, and a
/// pod may list names that are near to many known ones.
pub(crate) fn slips_between(one: &[u8], other: &[u8], most: usize) -> Option<usize> {
    let equal = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (one.get(equal..)?, other.get(equal..)?);
    let rest = match (one, other) {
        ([], []) => return Some(0),
        _ if most == 0 || one.len().abs_diff(other.len()) > most => return None,
        _ => most - 1,
    };
    let after = |skip_one: usize, skip_other: usize| {
        slips_between(one.get(skip_one..)?, other.get(skip_other..)?, rest)
    };
    let swapped = matches!((one, other), ([a, b, ..], [c, d, ..]) if a == d && b == c);
    let ways = [after(1, 1), after(1, 0), after(0, 1), if swapped { after(2, 2) } else { None }];
    ways.into_iter().flatten().min().map(|slips| slips + 1)
}

/// The only name that continues this one.
fn only_known_name_that_continues(name: &str, prefix: &str) -> Option<&'static Variable> {
    if name.len() < prefix.len() + 6 || name.ends_with('_') {
        return None;
    }
    let goes_on = |v: &&Variable| v.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
    let mut found = all_variables().filter(goes_on).filter(|v| is_read(v));
    found.next().filter(|_| found.next().is_none())
}

/// The pairs of letters of a name, a bit each, by a hash.
fn letter_pairs_as_bits(name: &str) -> u128 {
    let pairs = name.as_bytes().windows(2);
    pairs.fold(0, |set, pair| {
        let hash = pair.iter().fold(0_u32, |hash, byte| hash.wrapping_mul(31) ^ u32::from(*byte));
        set | 1 << (hash & 127)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(name: &str) -> String {
        match why_name_is_unread(name) {
            None => "read".to_owned(),
            Some(Unread::Removed(v)) => format!("removed {}", v.name),
            Some(Unread::Misname(v)) => format!("misname {}", v.name),
            Some(Unread::Opposite(v)) => format!("opposite {}", v.name),
            Some(Unread::Typo(v)) => format!("typo {}", v.name),
            Some(Unread::Unknown) => "unknown".to_owned(),
        }
    }

    #[test]
    fn in_the_order_of_the_checks() {
        for (name, what) in [
            ("NCCL_DEBUG", "read"),
            ("NCCL_IB_CUDA_SUPPORT", "removed NCCL_IB_CUDA_SUPPORT"),
            ("NCCL_MIN_CHANNELS", "misname NCCL_MIN_NCHANNELS"),
            ("NVSHMEM_USE_IBGDA", "misname NVSHMEM_IB_ENABLE_IBGDA"),
            ("NCCL_ENABLE_MONITORING", "misname TORCH_NCCL_ENABLE_MONITORING"),
            ("NCCL_IB_ENABLE", "opposite NCCL_IB_DISABLE"),
            ("NCCL_P2P_ENABLE", "opposite NCCL_P2P_DISABLE"),
            ("NCCL_CUMEM_DISABLE", "opposite NCCL_CUMEM_ENABLE"),
            ("NCCL_DEBUG_SUSYS", "misname NCCL_DEBUG_SUBSYS"),
            ("NCCL_SOCKET_INFAME", "typo NCCL_SOCKET_IFNAME"),
            ("NCCL_SOKCET_IFNAME", "typo NCCL_SOCKET_IFNAME"),
            ("NCCL_IB_HCAA", "typo NCCL_IB_HCA"),
            ("NCCL_DEBGU", "typo NCCL_DEBUG"),
            ("NCCL_IB_SPLIT_DATA_ON", "typo NCCL_IB_SPLIT_DATA_ON_QPS"),
            ("TORCH_NCCL_BLOKING_WAIT", "typo TORCH_NCCL_BLOCKING_WAIT"),
            ("NCCL_SITE_PROXY_URL", "unknown"),
        ] {
            assert_eq!(described(name), what, "{name}");
        }
    }

    #[test]
    fn names_of_other_programs_are_accepted() {
        for name in [
            "NCCL_VERSION",
            "NCCL_HOME",
            "NCCL_LIB_DIR",
            "NCCL_ROOT",
            "NCCL_TESTS_SPLIT_MASK",
            "NCCL_TEST_ANY",
            "NCCL_GIB_VERSION",
            "NCCL_UB",
            "NCCL_SHIMNET_ANY_THING",
            "NCCL_NET_PLUGIN_TELEMETRY_MODE",
            "NCCL_TUNER_CONFIG_PATH",
            "NCCL_FASTRAK_SOMETHING_NEW",
            "UCX_RC_MLX5_TM_ENABLE",
            "NVSHMEM_BOOTSTRAP_TIMEOUT",
            "OMPI_MCA_anything",
        ] {
            assert_eq!(described(name), "read", "{name}");
        }
    }

    #[test]
    fn no_known_name_is_a_slip_of_another() {
        for v in all_variables().filter(|v| is_read(v)) {
            assert_eq!(why_name_is_unread(v.name), None, "{}", v.name);
        }
    }

    #[test]
    fn two_candidates_give_no_answer() {
        // MIN and MAX are as near as each other.
        assert_eq!(described("NCCL_MXX_NCHANNELS"), "typo NCCL_MAX_NCHANNELS");
        assert_eq!(described("NCCL_M_NCHANNELS"), "unknown");
    }

    /// As a crate that makes a table of all distances finds it.
    #[test]
    fn slips_are_counted_as_by_a_table() {
        let letters = [b'A', b'B', b'C'];
        let names: Vec<Vec<u8>> = (0..3_usize.pow(5))
            .flat_map(|n| {
                (0..=5).map(move |length| (0..length).map(|at| letters[n / 3_usize.pow(at) % 3]).collect())
            })
            .collect();
        for (i, one) in names.iter().enumerate().step_by(7) {
            for other in names.iter().skip(i % 5).step_by(5) {
                let text = |name: &[u8]| String::from_utf8(name.to_vec()).unwrap();
                let distance = strsim::osa_distance(&text(one), &text(other));
                for most in 0..3 {
                    let expected = (distance <= most).then_some(distance);
                    assert_eq!(slips_between(one, other, most), expected, "{} {}", text(one), text(other));
                }
            }
        }
    }

    #[test]
    fn a_slip_in_a_known_name_is_corrected() {
        let (mut right, mut wrong) = (0, 0);
        for v in all_variables().filter(|v| v.family == "nccl" && is_read(v) && v.name.len() >= 14) {
            for at in 5..v.name.len() - 1 {
                let mut slip: Vec<u8> = v.name.bytes().collect();
                slip.swap(at, at + 1);
                let slip = String::from_utf8(slip).unwrap();
                match why_name_is_unread(&slip) {
                    _ if slip == v.name => {}
                    Some(Unread::Typo(meant)) if meant == v => right += 1,
                    _ => wrong += 1,
                }
            }
        }
        assert!(right > 2000 && wrong * 100 < right, "{right} right, {wrong} wrong");
    }
}

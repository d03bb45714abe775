//! The table of variables, compiled in: one per line, `NAME FAMILY TYPE RELEVANCE`, then further facts as
//! `key=value`.

use crate::nccl::NcclVersion;
use memchr::memmem::Finder;
use std::collections::HashMap;
use std::sync::LazyLock;

/// How a program reads a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// As C's `strtoll` with automatic base: a text that does not start with a number is 0.
    Number,
    /// As a number that acts on exactly 1.
    One,
    /// A level of distance: an upper-case word, or a digit of older releases.
    Level,
    /// One of some words, in any case.
    Word,
    /// One of some words, exactly.
    ExactWord,
    /// Names of interfaces or devices with the marks `^` and `=`.
    Names,
    /// Algorithms or protocols, for all functions or by function.
    Functions,
    /// Words separated by commas; `^` inverts the list.
    Words,
    /// A range of addresses.
    Range,
    /// Any text, or the program's reading is not known.
    Text,
}

impl Reading {
    fn parse(text: &str) -> Self {
        match text {
            "number" => Self::Number,
            "one" => Self::One,
            "level" => Self::Level,
            "word" => Self::Word,
            "exact-word" => Self::ExactWord,
            "names" => Self::Names,
            "functions" => Self::Functions,
            "words" => Self::Words,
            "range" => Self::Range,
            _ => Self::Text,
        }
    }

    /// In words.
    #[must_use]
    pub fn expected_form_in_words(self) -> Option<&'static str> {
        Some(match self {
            Self::Number => "a number; any word reads as 0",
            Self::One => "a number; only 1 has an effect",
            Self::Level => "a level of distance, in capitals",
            Self::Word => "one of some words, in any case",
            Self::ExactWord => "one of some words, to the letter",
            Self::Names => "names: `^` excludes and `=` is exact, each only at the start of the whole value",
            Self::Functions => "a list, or lists by function",
            Self::Words => "a list of words; `^` at the start excludes",
            Self::Range => "a range of addresses, such as 10.0.0.0/16",
            Self::Text => return None,
        })
    }
}

/// Whether current programs read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// They do.
    Read,
    /// They do, and another variable will replace it.
    Deprecated,
    /// They no longer do.
    Removed,
    /// Documented for releases later than those that we read.
    Newer,
    /// It only looks like a variable: scripts and images use it.
    Other,
}

/// The known facts about a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// The program that reads it: `nccl`, `rccl`, a plugin, another library.
    pub family: &'static str,
    /// `bool`, `int`, `size`, `enum`, `list`, `path` or `string`.
    pub kind: &'static str,
    /// Its subject: `ib`, `roce`, `socket`, `gdr`, `topology`, `debug`, `algo`, `shm`, `nvls` or `misc`.
    pub relevance: &'static str,
    /// How it is read.
    pub reading: Reading,
    /// Words that it accepts, if they are a closed set.
    pub values: &'static str,
    /// Least and greatest number.
    pub range: (Option<i64>, Option<i64>),
    /// The default, if it is one word.
    pub default: Option<&'static str>,
    /// First release that reads it; `..V` if that is V or older.
    pub since: Option<&'static str>,
    /// Last release that reads it.
    pub until: Option<&'static str>,
    /// Whether it is still read.
    pub status: Status,
    /// Release that deprecates it.
    pub deprecated: Option<&'static str>,
    /// Its replacement.
    pub instead: Option<&'static str>,
    /// Whether all ranks must agree on it; `None` if that was not checked.
    pub uniform: Option<bool>,
    /// Wrong names that people write for it and that no program reads, separated by commas.
    pub misnames: &'static str,
}

impl Variable {
    /// Words that it accepts.
    pub fn accepted_words(&self) -> impl Iterator<Item = &'static str> {
        self.values.split(',').filter(|w| !w.is_empty())
    }

    /// Whether a release of NCCL is too old to read it. Releases of other families have other numbers.
    #[must_use]
    pub fn is_newer_than_release(&self, version: NcclVersion) -> bool {
        let since = self.since.filter(|_| self.family == "nccl").and_then(NcclVersion::parse);
        since.is_some_and(|since| version < since)
    }
}

static TEXT: &str = include_str!("variables.txt");

/// Every variable, by name.
static TABLE: LazyLock<Vec<Variable>> = LazyLock::new(|| {
    let mut table: Vec<Variable> = TEXT.lines().filter_map(read_line_of_table).collect();
    table.sort_unstable_by_key(|v| v.name);
    table
});

fn read_line_of_table(line: &'static str) -> Option<Variable> {
    let mut words = line.split(' ');
    let mut word = || words.next().filter(|w| !w.is_empty());
    let (name, family, kind, relevance) = (word()?, word()?, word()?, word()?);
    let mut v = Variable {
        name,
        family,
        kind,
        relevance,
        reading: Reading::Text,
        values: "",
        range: (None, None),
        default: None,
        since: None,
        until: None,
        status: Status::Read,
        deprecated: None,
        instead: None,
        uniform: None,
        misnames: "",
    };
    for (key, value) in words.filter_map(|w| w.split_once('=')) {
        match key {
            "read" => v.reading = Reading::parse(value),
            "values" => v.values = value,
            "range" => {
                let (least, most) = value.split_once("..").unwrap_or((value, ""));
                v.range = (least.parse().ok(), most.parse().ok());
            }
            "default" => v.default = Some(value),
            "since" => v.since = Some(value),
            "until" => v.until = Some(value),
            "deprecated" => (v.status, v.deprecated) = (Status::Deprecated, Some(value)),
            "instead" => v.instead = Some(value),
            "ranks" => v.uniform = Some(value == "uniform"),
            "misnames" => v.misnames = value,
            "status" => {
                v.status = match value {
                    "removed" => Status::Removed,
                    "newer" => Status::Newer,
                    "other" => Status::Other,
                    "deprecated" => Status::Deprecated,
                    _ => Status::Read,
                }
            }
            _ => {}
        }
    }
    Some(v)
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static Variable>> =
    LazyLock::new(|| TABLE.iter().map(|v| (v.name, v)).collect());

/// A variable by name.
#[must_use]
pub fn find_variable(name: &str) -> Option<&'static Variable> {
    BY_NAME.get(name).copied()
}

/// Prefixes of the names in the table.
const PREFIXES_IN_TABLE: [&str; 13] = [
    "FI_",
    "GLOO_",
    "HSA_",
    "IBV_",
    "IONIC_",
    "NCCL_",
    "NVIDIA_IMEX",
    "NVSHMEM_",
    "OFI_NCCL_",
    "OMPI_MCA_",
    "RCCL_",
    "TORCH_NCCL_",
    "UCX_",
];

/// Whether a name may be in the table, by its prefix.
#[must_use]
pub fn may_be_in_table(name: &str) -> bool {
    matches!(name.as_bytes().first(), Some(b'F' | b'G' | b'H' | b'I' | b'N' | b'O' | b'R' | b'T' | b'U'))
        // The first byte leaves one or two of them to be compared.
        && PREFIXES_IN_TABLE.iter().any(|p| p.as_bytes().first() == name.as_bytes().first() && name.starts_with(p))
}

static PARTS: LazyLock<[Finder<'static>; 6]> =
    LazyLock::new(|| ["CCL_", "UCX_", "FI_", "NVSHMEM_", "OMPI_MCA_", "GLOO_"].map(Finder::new));

/// Whether a text may set a variable of the table. Much faster than reading it, and most texts set none.
#[must_use]
pub fn may_set_known_variable(text: &str) -> bool {
    let text = text.as_bytes();
    memchr::memchr(b'_', text).is_some() && PARTS.iter().any(|part| part.find(text).is_some())
}

/// Every variable, by name.
pub fn all_variables() -> impl Iterator<Item = &'static Variable> {
    TABLE.iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_variable() {
        assert_eq!(all_variables().count(), TEXT.lines().count());
        assert!(all_variables().count() > 600);
        let mut names: Vec<_> = all_variables().map(|v| v.name).collect();
        names.dedup();
        assert_eq!(names.len(), all_variables().count(), "a name twice");
    }

    #[test]
    fn a_line_is_read() {
        let timeout = find_variable("NCCL_IB_TIMEOUT").unwrap();
        assert_eq!((timeout.family, timeout.kind, timeout.reading), ("nccl", "int", Reading::Number));
        assert_eq!((timeout.range, timeout.default), ((Some(1), Some(31)), Some("20")));
        let old = find_variable("NCCL_IB_CUDA_SUPPORT").unwrap();
        assert_eq!(
            (old.status, old.until, old.instead),
            (Status::Removed, Some("2.3.7"), Some("NCCL_NET_GDR_LEVEL"))
        );
        assert_eq!(find_variable("NCCL_P2P_DISABLE").unwrap().reading, Reading::One);
        assert_eq!(find_variable("NCCL_ALGO").unwrap().uniform, Some(true));
        assert!(find_variable("NCCL_IB_HCA").unwrap().misnames.contains("NCCL_IB_HCAS"));
        assert!(find_variable("NCCL_DEBUG").unwrap().accepted_words().any(|w| w == "WARN"));
        assert!(find_variable("").is_none() && find_variable("NCCL_").is_none());
    }

    #[test]
    fn releases_before_a_variable_was_there() {
        let conf = find_variable("NCCL_CONF_FILE").unwrap();
        assert!(
            conf.is_newer_than_release(NcclVersion(2, 22, 3))
                && !conf.is_newer_than_release(NcclVersion(2, 23, 4))
        );
        assert!(!find_variable("NCCL_DEBUG").unwrap().is_newer_than_release(NcclVersion(2, 0, 0)));
    }
}

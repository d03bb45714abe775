//! `/etc/nccl.conf` as NCCL reads it (NVIDIA/nccl src/misc/param.cc, setEnvFile): one variable per line, split at the
//! first `=`, nothing trimmed, lines without `=` skipped. A variable that the process already has is not changed.

use crate::profile::EnvEntry;
use crate::snapshot::ByVariable;
use crate::text::cut_to_bytes;
use std::collections::HashSet;

/// Longest name and value (bytes): NCCL copies each into 1024 bytes with their end.
const MAX_PART: usize = 1023;
/// Prefixes of variables that NCCL and its plugins read after NCCL has read the file. Other libraries read their own
/// variables at another time.
const READERS: [&str; 3] = ["NCCL_", "RCCL_", "OFI_NCCL_"];
/// Names with NCCL's prefix that only PyTorch reads (pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp), or
/// that are read before the file.
const OTHERS: [&str; 8] = [
    "NCCL_ASYNC_ERROR_HANDLING",
    "NCCL_BLOCKING_WAIT",
    "NCCL_CONF_FILE",
    "NCCL_DESYNC_DEBUG",
    "NCCL_ENABLE_TIMING",
    "NCCL_ENV_PLUGIN",
    "NCCL_TRACE_BUFFER_SIZE",
    "NCCL_USE_COMM_NONBLOCKING",
];

/// Most bytes and variables of a file of which every line is read; real files have ten lines.
const MAX_TEXT: usize = 64 << 10;
const MAX_VARIABLES: usize = 128;
/// Most bytes of a file: the API server refuses objects with longer annotations (k8s.io/apimachinery
/// pkg/api/validation, `TotalAnnotationSizeLimitB`).
const MAX_ANNOTATIONS: usize = 256 << 10;

/// Whether a line of the file can set a variable in time for its reader.
pub(super) fn can_conf_line_carry(entry: &EnvEntry) -> bool {
    is_read_after_nccl_conf(&entry.name) && entry.name.len() <= MAX_PART && entry.value.len() <= MAX_PART
}

/// Whether a variable is read after the file.
pub(super) fn is_read_after_nccl_conf(name: &str) -> bool {
    READERS.iter().any(|prefix| name.starts_with(prefix)) && !OTHERS.contains(&name)
}

/// The variables of a file, with names and values cut as NCCL cuts them. It is read once: each container may have it, and
/// rules ask for one variable after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfFile {
    /// In the order of its lines.
    lines: Vec<(String, String)>,
    /// Places of the lines in the order of their names.
    by_name: Vec<usize>,
}

impl ConfFile {
    /// Of a file with too many lines, the rest has only the variables of profiles, each once: hundreds of containers may
    /// have the file, but what a profile requires or forbids must be found wherever it stands.
    pub(super) fn read_with_limit(text: &str, of_profiles: &ByVariable) -> Self {
        let every = first_variables_of_conf(text).count();
        let mut beyond: HashSet<&str> = HashSet::new();
        let all = cut_to_bytes(text, MAX_ANNOTATIONS).split('\n').filter_map(|line| line.split_once('='));
        let kept = all.enumerate().filter(|(nth, (name, _))| {
            *nth < every
                || is_read_after_nccl_conf(name) && of_profiles.contains_key(*name) && beyond.insert(name)
        });
        let owned = |(_, (name, value)): (_, (&str, &str))| {
            (cut_to_bytes(name, MAX_PART).to_owned(), cut_to_bytes(value, MAX_PART).to_owned())
        };
        let mut conf = Self { lines: kept.map(owned).collect(), by_name: Vec::new() };
        let mut places: Vec<usize> = (0..conf.lines.len()).collect();
        places.sort_by(|a, b| conf.name(*a).cmp(&conf.name(*b)));
        conf.by_name = places;
        conf
    }

    /// Names and values, in the order of the lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a variable. If its name is repeated, NCCL takes the first, since it never changes a variable that is
    /// set.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let first = self.by_name.partition_point(|place| self.name(*place) < Some(name));
        let (own, value) = self.lines.get(*self.by_name.get(first)?)?;
        (own == name).then_some(value)
    }

    fn name(&self, place: usize) -> Option<&str> {
        self.lines.get(place).map(|(name, _)| name.as_str())
    }
}

/// The first variables of a file, in the order of its lines.
pub(super) fn first_variables_of_conf(text: &str) -> impl Iterator<Item = (&str, &str)> {
    cut_to_bytes(text, MAX_TEXT).split('\n').filter_map(|line| line.split_once('=')).take(MAX_VARIABLES)
}

/// A file with lines added.
pub(super) fn conf_text_with_lines<'e>(text: &str, entries: impl Iterator<Item = &'e EnvEntry>) -> String {
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    for entry in entries {
        for part in [&entry.name, "=", &entry.value, "\n"] {
            out.push_str(part);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::schema::EnvPolicy;

    fn entry(name: &str, value: &str) -> EnvEntry {
        let (name, value) = (name.into(), value.into());
        EnvEntry { name, value, policy: EnvPolicy::Default, from: None, before: None, reason: "".into() }
    }

    #[test]
    fn nccl_reads_the_lines_that_are_written() {
        let entries = [entry("NCCL_IB_HCA", "=mlx5_0,mlx5_1"), entry("NCCL_NET", "IB")];
        let text = conf_text_with_lines("# mine\nNCCL_DEBUG=INFO", entries.iter());
        assert_eq!(text, "# mine\nNCCL_DEBUG=INFO\nNCCL_IB_HCA==mlx5_0,mlx5_1\nNCCL_NET=IB\n");
        let read: Vec<_> = first_variables_of_conf(&text).collect();
        assert_eq!(read, [("NCCL_DEBUG", "INFO"), ("NCCL_IB_HCA", "=mlx5_0,mlx5_1"), ("NCCL_NET", "IB")]);
        assert_eq!(conf_text_with_lines("", entries.iter().take(0)), "");
        let conf = ConfFile::read_with_limit("B=1\nC=2\n\nA=3\nB=4", &ByVariable::new());
        assert_eq!(
            ["A", "B", "C", "D"].map(|name| conf.value(name)),
            [Some("3"), Some("1"), Some("2"), None]
        );
        assert_eq!(conf.lines().map(|(_, value)| value).collect::<Vec<_>>(), ["1", "2", "3", "4"]);
    }

    #[test]
    fn variables_of_profiles_are_found_behind_many_lines() {
        let of_profiles: ByVariable =
            ["NCCL_ALGO", "TORCH_X"].map(|name| (name.into(), Default::default())).into();
        let short: String = (0..30_000).map(|i| format!("A{i}\n")).collect();
        let many: String = (0..300).map(|i| format!("A{i}=1\n")).collect();
        let long = format!("#{}\n", "x".repeat(200_000));
        for (before, kept) in [(&short, 0), (&many, 128), (&long, 0)] {
            let rest = "NCCL_ALGO=Ring\nTORCH_X=1\nNCCL_IB_HCA=a\nNCCL_ALGO=Tree";
            let conf = ConfFile::read_with_limit(&format!("{before}{rest}"), &of_profiles);
            assert_eq!(conf.lines().count(), kept + 1);
            let read = ["NCCL_ALGO", "TORCH_X", "NCCL_IB_HCA"].map(|name| conf.value(name));
            assert_eq!(read, [Some("Ring"), None, None]);
        }
        let long = format!("NCCL_ALGO={}", "r".repeat(2 * MAX_PART));
        let conf = ConfFile::read_with_limit(&long, &of_profiles);
        assert_eq!(conf.value("NCCL_ALGO").map(str::len), Some(MAX_PART), "as NCCL copies it");
        let first = format!("NCCL_ALGO=Tree\n{many}NCCL_ALGO=Ring");
        assert_eq!(ConfFile::read_with_limit(&first, &of_profiles).value("NCCL_ALGO"), Some("Tree"));
    }

    #[test]
    fn the_file_carries_only_variables_that_are_read_after_it() {
        for name in ["NCCL_IB_HCA", "RCCL_MSCCL_ENABLE", "OFI_NCCL_PROTOCOL"] {
            assert!(can_conf_line_carry(&entry(name, "1")), "{name}");
        }
        for name in [
            "GLOO_SOCKET_IFNAME",
            "UCX_TLS",
            "TORCH_NCCL_BLOCKING_WAIT",
            "NCCL_BLOCKING_WAIT",
            "NCCL_CONF_FILE",
        ] {
            assert!(!can_conf_line_carry(&entry(name, "1")), "{name}");
        }
        assert!(can_conf_line_carry(&entry("NCCL_IB_HCA", &"x".repeat(MAX_PART))));
        assert!(!can_conf_line_carry(&entry("NCCL_IB_HCA", &"x".repeat(MAX_PART + 1))));
    }
}

//! `/etc/nccl.conf` as NCCL reads it (NVIDIA/nccl src/misc/param.cc, setEnvFile): one variable a line, split at the
//! first `=`, nothing trimmed, lines without `=` passed over; a variable that the process has already stays.

use crate::profile::EnvEntry;

/// Longest name and value (bytes): NCCL copies each into 1024 bytes with their end.
const MAX_PART: usize = 1023;
/// Variables of these prefixes are read by NCCL and the plugins it loads, after it has read the file. Others are read
/// by libraries of their own, at a time of their own.
const READERS: [&str; 3] = ["NCCL_", "RCCL_", "OFI_NCCL_"];
/// Names that begin like NCCL's and are read by PyTorch alone (pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp),
/// or before the file is.
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

/// Whether a line of the file sets a variable for the one who reads it.
pub(super) fn carries(entry: &EnvEntry) -> bool {
    READERS.iter().any(|prefix| entry.name.starts_with(prefix))
        && !OTHERS.contains(&entry.name.as_str())
        && entry.name.len() <= MAX_PART
        && entry.value.len() <= MAX_PART
}

/// Variables of a file, in the order of its lines. Of a name that is there twice NCCL takes the first, as it never
/// changes a variable that is set.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('\n').filter_map(|line| line.split_once('='))
}

/// A file with lines added.
pub(super) fn with_lines<'e>(text: &str, entries: impl Iterator<Item = &'e EnvEntry>) -> String {
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
        let (name, value) = (name.to_owned(), value.to_owned());
        EnvEntry { name, value, policy: EnvPolicy::Default, from: None, before: None, reason: String::new() }
    }

    #[test]
    fn what_is_written_is_what_nccl_reads() {
        let entries = [entry("NCCL_IB_HCA", "=mlx5_0,mlx5_1"), entry("NCCL_NET", "IB")];
        let text = with_lines("# mine\nNCCL_DEBUG=INFO", entries.iter());
        assert_eq!(text, "# mine\nNCCL_DEBUG=INFO\nNCCL_IB_HCA==mlx5_0,mlx5_1\nNCCL_NET=IB\n");
        let read: Vec<_> = variables(&text).collect();
        assert_eq!(read, [("NCCL_DEBUG", "INFO"), ("NCCL_IB_HCA", "=mlx5_0,mlx5_1"), ("NCCL_NET", "IB")]);
        assert_eq!(with_lines("", entries.iter().take(0)), "");
    }

    #[test]
    fn only_what_is_read_after_the_file_travels_by_it() {
        for name in ["NCCL_IB_HCA", "RCCL_MSCCL_ENABLE", "OFI_NCCL_PROTOCOL"] {
            assert!(carries(&entry(name, "1")), "{name}");
        }
        for name in [
            "GLOO_SOCKET_IFNAME",
            "UCX_TLS",
            "TORCH_NCCL_BLOCKING_WAIT",
            "NCCL_BLOCKING_WAIT",
            "NCCL_CONF_FILE",
        ] {
            assert!(!carries(&entry(name, "1")), "{name}");
        }
        assert!(carries(&entry("NCCL_IB_HCA", &"x".repeat(MAX_PART))));
        assert!(!carries(&entry("NCCL_IB_HCA", &"x".repeat(MAX_PART + 1))));
    }
}

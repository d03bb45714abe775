//! A file with settings of NCCL: `/etc/nccl.conf`, `.nccl.conf` in the home directory, or the file that `NCCL_CONF_FILE`
//! names (NVIDIA/nccl src/misc/param.cc, `setEnvFile`).

use std::collections::BTreeMap;

/// The variables of a file: one in a line, split at the first `=`, nothing trimmed. The first line of a variable counts.
#[must_use]
pub fn parse_variables_first_wins(content: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(content);
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let mut found = BTreeMap::new();
    for (name, value) in lines {
        found.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_variable_counts() {
        let found = parse_variables_first_wins(
            b"#NCCL_NET=IB\nNCCL_IB_HCA==mlx5_0\r\nNCCL_IB_HCA=mlx5\nNCCL_DEBUG = INFO\nnothing\n\xff=1",
        );
        let of = |name: &str| found.get(name).map(String::as_str);
        assert_eq!((of("NCCL_IB_HCA"), of("NCCL_NET"), of("NCCL_DEBUG")), (Some("=mlx5_0"), None, None));
        assert_eq!(of("NCCL_DEBUG "), Some(" INFO"));
    }
}

//! Files in `/etc/libibverbs.d`, which name the providers that libibverbs loads (linux-rdma/rdma-core
//! libibverbs/dynamic_driver.c, `read_config_file` and `load_drivers`).

/// Names in the lines `driver NAME`.
#[must_use]
pub fn driver_names(content: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(content);
    let name = |line: &str| {
        let (word, rest) = line.trim_start_matches(BLANK).split_once(BLANK)?;
        let name = rest.trim_start_matches(BLANK).split(BLANK).next()?;
        (word == "driver" && !name.is_empty()).then(|| name.to_owned())
    };
    text.split('\n').filter_map(name).collect()
}

/// Whether a name in such a line, or in `RDMAV_DRIVERS`, is this provider: `mlx5`, or a path such as `/opt/lib/libmlx5`.
#[must_use]
pub fn is_provider(own: &str, provider: &str) -> bool {
    own == provider
        || own.starts_with('/')
            && own.rsplit('/').next().and_then(|f| f.strip_prefix("lib")) == Some(provider)
}

const BLANK: [char; 2] = ['\t', ' '];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_providers() {
        for (content, names) in [
            ("driver mlx5\n", vec!["mlx5"]),
            ("# driver mlx4\n\n \tdriver  \tefa rest\ndriver mlx5", vec!["efa", "mlx5"]),
            ("drivers mlx5\ndriver\ndriver \n", vec![]),
            // libibverbs keeps the carriage return in the name, and finds no such library.
            ("driver mlx5\r\n", vec!["mlx5\r"]),
            ("", vec![]),
        ] {
            assert_eq!(driver_names(content.as_bytes()), names, "{content:?}");
        }
        for (own, is) in
            [("mlx5", true), ("/opt/lib/libmlx5", true), ("libmlx5", false), ("/opt/mlx5", false)]
        {
            assert_eq!(is_provider(own, "mlx5"), is, "{own}");
        }
    }
}

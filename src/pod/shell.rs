//! Variables that a container's command sets by itself. Public manifests set about half of their NCCL
//! variables in shell text rather than in `env`, and there they win over what is injected.

/// Whether shell text gives a variable a value: `export N=V`, `N=V cmd`, `-x N=V`, `${N:-V}` and the like.
/// Reading it (`$N`) or passing it on (`-x N`) does not.
#[must_use]
pub fn sets_variable(text: &str, name: &str) -> bool {
    // The empty text is found everywhere, and again and again.
    if name.is_empty() {
        return false;
    }
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(name)) {
        let start = from + at;
        let end = start + name.len();
        let before = text.get(..start).and_then(|t| t.chars().next_back());
        let after = text.get(end..).unwrap_or_default();
        if !before.is_some_and(is_name_char) && !after.chars().next().is_some_and(is_name_char) {
            let braced = before == Some('{');
            let assigned = after.starts_with('=');
            let defaulted =
                braced && (after.starts_with(":-") || after.starts_with(":=") || after.starts_with('-'));
            if assigned || defaulted {
                return true;
            }
        }
        from = end;
    }
    false
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::sets_variable;

    #[test]
    fn assignments_count() {
        for text in [
            "export NCCL_IB_HCA=mlx5",
            "NCCL_IB_HCA=mlx5 torchrun x.py",
            "mpirun -x NCCL_IB_HCA==mlx5_0,mlx5_1 ./a",
            "export NCCL_IB_HCA=${NCCL_IB_HCA:-mlx5}",
            ": ${NCCL_IB_HCA:=mlx5}",
            "env -u X NCCL_IB_HCA='mlx5'",
        ] {
            assert!(sets_variable(text, "NCCL_IB_HCA"), "{text}");
        }
    }

    #[test]
    fn reading_and_passing_on_do_not() {
        for text in [
            "mpirun -x NCCL_IB_HCA ./a",
            "echo $NCCL_IB_HCA",
            "echo ${NCCL_IB_HCA}",
            "MY_NCCL_IB_HCA=1",
            "NCCL_IB_HCA_X=1",
        ] {
            assert!(!sets_variable(text, "NCCL_IB_HCA"), "{text}");
        }
    }

    #[test]
    fn the_empty_name_is_set_by_nothing() {
        assert!(!sets_variable("", "") && !sets_variable("export =1", ""));
    }
}

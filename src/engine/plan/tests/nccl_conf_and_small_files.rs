//! `/etc/nccl.conf` and the other small files.

use super::super::{Carrier, FILE_ANNOTATION, FileRefusal, NCCL_CONF};
use super::{Case, gpu};
use serde_json::json;

/// A container whose variables travel by file.
fn by_file() -> Case {
    let mut case = Case::new();
    case.spec["env"] = json!([{"name": "NCCL_IB_HCA", "value": "mlx5"}]);
    case.container(0)["envFrom"] = json!([{"configMapRef": {"name": "c"}}]);
    case
}

#[test]
fn nccl_conf_has_64_kib() {
    let line = "NCCL_IB_HCA=mlx5\n".len();
    for (own, fits) in [((64 << 10) - line, true), ((64 << 10) - line + 1, false)] {
        let mut case = by_file();
        case.annotation(&format!("{FILE_ANNOTATION}{NCCL_CONF}"), &format!("{}\n", "#".repeat(own - 1)));
        let plan = case.plan();
        assert_eq!(!case.only("/etc/nccl.conf").is_empty(), fits);
        let refusal = plan.left_out.first().and_then(|left| left.file.clone());
        assert_eq!(refusal, (!fits).then_some(FileRefusal::TooLarge));
    }
}

#[test]
fn nccl_conf_is_mounted_where_env_does_not_reach() {
    let mut case = by_file();
    case.pod["spec"]["containers"].as_array_mut().unwrap().push(gpu("b"));
    assert_eq!(case.only("0 mount fabric-files"), ["0 mount fabric-files at /etc/nccl.conf"]);
    assert!(case.only("1 mount fabric-files").is_empty());
    assert_eq!(case.only("1 NCCL_IB_HCA"), ["1 NCCL_IB_HCA=mlx5"]);
}

#[test]
fn carriers_are_distinguished() {
    let mut case = by_file();
    case.pod["spec"]["containers"].as_array_mut().unwrap().push(gpu("b"));
    let plan = case.plan();
    let carried = |by: Carrier| -> Vec<String> {
        let changes = plan.changes.iter().filter(|c| c.edit.carrier() == by);
        changes.map(|c| c.edit.summary()).collect()
    };
    assert_eq!(carried(Carrier::Env), ["NCCL_IB_HCA=mlx5"]);
    assert_eq!(carried(Carrier::File), ["/etc/nccl.conf: NCCL_IB_HCA=mlx5"]);
}

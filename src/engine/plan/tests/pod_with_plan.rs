//! The final pod: the pod with a plan over it.

use super::super::pod_with_plan::{PodWithPlan, Variable};
use super::super::{FILE_ANNOTATION, NCCL_CONF, Plan, file_field_path};
use super::Case;
use serde_json::json;

#[test]
fn lines_of_nccl_conf_count_where_it_is_mounted() {
    let mut case = Case::new();
    case.spec["env"] = json!([{"name": "NCCL_IB_HCA", "value": "mlx5"}]);
    case.pod["spec"]["containers"] = json!([super::gpu("a"), super::gpu("b"), {"name": "c"}]);
    case.container(0)["envFrom"] = json!([{"configMapRef": {"name": "c"}}]);
    let plan = case.plan();
    let text = case.pod.to_string();
    let pod = serde_json::from_str(&text).unwrap();
    let overlay = PodWithPlan::new(&pod, &plan);
    let variable = |index: usize| overlay.variable(index, &pod.containers()[index], "NCCL_IB_HCA");
    assert_eq!(variable(0), Some(Variable::Value("mlx5")));
    assert_eq!(variable(1), Some(Variable::Value("mlx5")), "planned in env");
    assert_eq!(variable(2), None);
}

#[test]
fn a_file_that_is_mounted_already_counts_without_a_plan() {
    let mut case = Case::new();
    case.annotation(&format!("{FILE_ANNOTATION}{NCCL_CONF}"), "NCCL_DEBUG=INFO\nNCCL_NET=IB\n");
    let item = json!({"path": "c", "fieldRef": {"fieldPath": file_field_path(NCCL_CONF)}});
    case.pod["spec"]["volumes"] = json!([{"name": "v", "downwardAPI": {"items": [item]}}]);
    case.container(0)["volumeMounts"] = json!([{"name": "v", "mountPath": "/etc/nccl.conf", "subPath": "c"}]);
    let text = case.pod.to_string();
    let pod = serde_json::from_str(&text).unwrap();
    let plan = Plan::default();
    let overlay = PodWithPlan::new(&pod, &plan);
    let variable = |name: &str| overlay.variable(0, &pod.containers()[0], name);
    assert_eq!(variable("NCCL_NET"), Some(Variable::Value("IB")));
    assert_eq!(variable("NCCL_ALGO"), None);

    // A variable in the file need not be repeated in env.
    case.spec["env"] = json!([{"name": "NCCL_NET", "value": "IB"}, {"name": "NCCL_IB_HCA", "value": "mlx5"}]);
    assert_eq!(case.only("0 NCCL_"), ["0 NCCL_IB_HCA=mlx5"]);
}

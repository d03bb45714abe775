//! A request whose decision takes many times as long as reading it does.

use super::server::review;
use serde_json::{Value, json};

/// To create a JobSet with so many templates, up to 250. They differ, so each is decided on.
pub(crate) fn jobset_with_long_decision(templates: usize) -> String {
    let template = |job: usize| {
        let variable = |i: usize| json!({"name": format!("V{job}X{i}"), "value": "x"});
        let container = json!({"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}},
            "env": (0..100).map(variable).collect::<Vec<_>>()});
        json!({"name": format!("j{job}"), "template": {"spec": {"template": {"spec": {"containers": [container]}}}}})
    };
    let jobs: Vec<Value> = (0..templates).map(template).collect();
    let object = json!({"metadata": {"name": "a"}, "spec": {"replicatedJobs": jobs}});
    review("u", ("jobset.x-k8s.io", "JobSet"), "CREATE", &object).to_string()
}

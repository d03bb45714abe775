//! `why` of a cluster with many taints and profiles.

use super::why::json;
use crate::support::peak_memory::peak_memory;
use crate::support::round_trip::same;
use crate::support::{root, run};
use serde_json::Value;

/// Each pod repeats the taints and profiles of the cluster: of either only the first 20 are listed, the pod's own among them.
pub(super) fn cut() -> Result<(), String> {
    let node = |i: usize| {
        format!(
            "---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{i:02}, labels: {{pool: p{i:02}}}}}\n\
             spec: {{taints: [{{key: t{i:02}, effect: NoSchedule}}]}}\nstatus: {{allocatable: {{nvidia.com/gpu: '8'}}}}\n"
        )
    };
    let profile = |i: usize| {
        format!(
            "---\napiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: p{i:02}}}\n\
             spec: {{base: roce-sriov, nodeSelector: {{matchLabels: {{pool: p{i:02}}}}}}}\n"
        )
    };
    let all: String = (0..50).map(|i| node(i) + &profile(i)).collect();
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  tolerations: [{key: t49, operator: Exists}]\n  \
               containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]\n";
    let input = format!("{all}{pod}");
    let report = json(&["-"], &input)?;
    crate::cli::published_schemas::validate_why(&report)?;
    let why = &report["results"][0]["why"];
    let length = |value: &Value| value.as_array().map_or(0, Vec::len);
    same("taints", 20, length(&why["landing"]["dropped"]))?;
    same("other taints", &Value::from(29), &why["landing"]["droppedLeftOut"])?;
    same("profiles", 20, length(&why["profiles"]))?;
    same("other profiles", &Value::from(30), &why["profilesLeftOut"])?;
    same("the pod's profile", true, why["profiles"].to_string().contains("\"p49\",\"chosen\":true"))?;
    let text = run(&["why", "-"], input.as_bytes(), root())?.stdout;
    for line in ["29 nodes by 29 more taints, selectors or affinities", "     30 more profiles"] {
        if !text.contains(line) {
            return Err(format!("{line:?} is not in {text}"));
        }
    }
    Ok(())
}

/// What is kept of each pod does not grow with the taints of the cluster.
pub(super) fn kept() -> Result<(), String> {
    let nodes: String = (0..2_000)
        .map(|i| {
            format!("- {{metadata: {{name: n{i}}}, spec: {{taints: [{{key: k{i}, effect: NoSchedule}}]}}}}\n")
        })
        .collect();
    let pod = "- {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}\n";
    let list = |kind: &str, items: &str| format!("---\napiVersion: v1\nkind: {kind}\nitems:\n{items}");
    let input = list("NodeList", &nodes) + &list("PodList", &pod.repeat(3_000));
    match peak_memory(&["why", "-o", "json", "-"], &input, 0)? / 1024 {
        // 64 KB for each of 3,000 pods are 190 MiB.
        0..100 => Ok(()),
        peak => Err(format!("{peak} MiB")),
    }
}

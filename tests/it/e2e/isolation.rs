//! Namespace isolation: networks of other namespaces are refused when a pod is created, and when its annotations change.

use super::support::plane::{Kubectl, Plane};
use super::support::site::{PROFILE_LABEL, Site, cpu_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "isolation_holds_when_annotations_change", changes);
}

const NETWORKS: &str = "k8s.v1.cni.cncf.io/networks";
const DEFAULT: &str = "v1.multus-cni.io/default-network";

fn changes(plane: &Plane) -> Outcome {
    let site = Site::start_overlay(plane, "overlays/namespace-isolation", &[], &["--namespace-isolation"])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let isolated = |done: &Kubectl| !done.ok && done.stderr.contains("FAB150");
    for (key, value) in [
        (NETWORKS, "bank/vlan42"),
        (NETWORKS, r#"[{"name":"vlan42","namespace":"bank","namespace":null}]"#),
        (NETWORKS, r#"[{"name":"vlan42","nameſpace":"bank"}]"#),
        (DEFAULT, "bank/vlan42"),
    ] {
        let mut pod = cpu_pod("refused");
        pod["metadata"]["annotations"] = json!({key: value});
        let done = site.create(&namespace, &pod, &[])?;
        assert!(isolated(&done), "{key}: {value}: {}", done.stderr);
    }
    // A gate holds the pod back: its networks can change before Multus ever reads them.
    let mut pod = cpu_pod("held");
    pod["metadata"]["annotations"] = json!({NETWORKS: "own"});
    pod["spec"]["schedulingGates"] = json!([{"name": "example.com/held"}]);
    let done = site.create(&namespace, &pod, &[])?;
    assert!(done.ok, "{}", done.stderr);
    let set = |key: &str, value: &str| {
        let change = json!({"metadata": {"annotations": {key: value}}}).to_string();
        plane.kubectl(&["patch", "pod", "held", "-n", &namespace, "--type=merge", "-p", &change], "")
    };
    // The API server takes the new entry up a moment after it took up the others.
    plane.until("changes are asked about", Duration::from_secs(20), || {
        Ok(isolated(&set(NETWORKS, "bank/vlan41")?))
    })?;
    let asked = site.requests("networks")?;
    for (key, value) in [
        (NETWORKS, r#"[{"name":"vlan42","namespace":"bank","namespace":null}]"#),
        (NETWORKS, r#"[{"name":"vlan42","nameſpace":"bank"}]"#),
        (DEFAULT, "bank/vlan42"),
    ] {
        let done = set(key, value)?;
        assert!(isolated(&done), "{key}: {value}: {}", done.stderr);
    }
    // ib-kubernetes writes the GUID into the annotation, and Multus its status beside it, of which nobody is asked.
    let rewritten = r#"[{"name":"own","namespace":"NAMESPACE","infiniband-guid":"02:00:00:00:00:00:00:01"}]"#;
    for (key, value) in [
        (NETWORKS, rewritten.replace("NAMESPACE", &namespace)),
        ("k8s.v1.cni.cncf.io/network-status", "[]".to_owned()),
        ("example.com/other", "bank/vlan42".to_owned()),
    ] {
        let done = set(key, &value)?;
        assert!(done.ok, "{key}: {value}: {}", done.stderr);
    }
    assert_eq!(site.requests("networks")? - asked, 4);
    // Without a server, only changes of networks wait.
    site.point(|name| !name.starts_with("networks."))?;
    plane.until("the entry is away", Duration::from_secs(20), || {
        let done = set(NETWORKS, "own")?;
        Ok(!done.ok && done.stderr.contains("failed calling webhook"))
    })?;
    let done = set("example.com/other", "more")?;
    assert!(done.ok, "{}", done.stderr);
    Ok(())
}

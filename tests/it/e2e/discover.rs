//! `discover --live` on a real API server that is filled with each dump of `tests/discover` in turn, with the rights of the
//! auditor.

use super::audit::account;
use super::crd_of_profiles::install;
use super::support::plane::Plane;
use super::support::site::rendered;
use super::trial;
use crate::support::round_trip::{documents, same};
use crate::support::suite::{Outcome, Suite};
use crate::support::{names, read, root, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "discover_of_a_cluster_is_that_of_its_dump", dumps);
}

/// The kinds of the dumps that the plane does not have: group, version, plural, kind, and whether they have a namespace.
const CRDS: &[(&str, &str, &str, &str, bool)] = &[
    ("sriovnetwork.openshift.io", "v1", "sriovnetworks", "SriovNetwork", true),
    ("sriovnetwork.openshift.io", "v1", "sriovnetworknodestates", "SriovNetworkNodeState", true),
    ("mellanox.com", "v1alpha1", "nicclusterpolicies", "NicClusterPolicy", false),
    ("mellanox.com", "v1alpha1", "macvlannetworks", "MacvlanNetwork", false),
    ("mellanox.com", "v1alpha1", "ipoibnetworks", "IPoIBNetwork", false),
    ("mellanox.com", "v1alpha1", "hostdevicenetworks", "HostDeviceNetwork", false),
    ("networking.gke.io", "v1", "networks", "Network", false),
    ("networking.gke.io", "v1", "gkenetworkparamsets", "GKENetworkParamSet", false),
    ("karpenter.sh", "v1", "nodepools", "NodePool", false),
];

/// Takes the kinds away again: other trials have a cluster without them.
struct Kinds<'a>(&'a Plane);

impl Drop for Kinds<'_> {
    fn drop(&mut self) {
        for (group, _, plural, ..) in CRDS {
            let _ =
                self.0.kubectl(&["delete", "crd", &format!("{plural}.{group}"), "--ignore-not-found"], "");
        }
    }
}

fn dumps(plane: &Plane) -> Outcome {
    install(plane)?;
    let _kinds = Kinds(plane);
    for (group, version, plural, kind, namespaced) in CRDS {
        let scope = if *namespaced { "Namespaced" } else { "Cluster" };
        plane.apply(&format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.{group}}}\nspec:\n  \
             group: {group}\n  scope: {scope}\n  names: {{plural: {plural}, singular: {}, kind: {kind}}}\n  versions:\n  - {{name: \
             {version}, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, \
             x-kubernetes-preserve-unknown-fields: true}}}}}}\n",
            kind.to_lowercase()
        ))?;
    }
    for (group, version, plural, ..) in CRDS {
        plane.until("the kinds are served", Duration::from_secs(30), || {
            Ok(plane.kubectl(&["get", "--raw", &format!("/apis/{group}/{version}/{plural}")], "")?.ok)
        })?;
    }
    for namespace in
        ["fabric", "team-a", "team-b", "sriov-network-operator", "nvidia-network-operator", "cw-multus"]
    {
        plane.apply(&format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n"))?;
    }
    for object in rendered(plane, "../tests/chart/auditor")? {
        if object["metadata"]["name"] == "fabric-admission-auditor" {
            plane.apply(&object.to_string())?;
        }
    }
    let kubeconfig = account(plane, "discoverer", "fabric-admission-auditor")?;
    // ConfigMaps are read in one namespace of operators, for which the administrator grants the right.
    plane.apply(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: discoverer, namespace: kube-system}\nrules:\n\
         - {apiGroups: [''], resources: [configmaps], verbs: [list]}\n---\napiVersion: rbac.authorization.k8s.io/v1\n\
         kind: RoleBinding\nmetadata: {name: discoverer, namespace: kube-system}\nroleRef: {apiGroup: \
         rbac.authorization.k8s.io, kind: Role, name: discoverer}\nsubjects: [{kind: ServiceAccount, name: discoverer, \
         namespace: default}]\n",
    )?;
    let outcome = each_dump(plane, &kubeconfig).and_then(|()| without_rights(plane));
    // Other trials look at what remains of an installation.
    plane.kubectl(&["delete", "clusterrole", "fabric-admission-auditor", "--ignore-not-found=true"], "")?;
    outcome
}

fn each_dump(plane: &Plane, kubeconfig: &str) -> Outcome {
    let directory = root().join("tests/discover");
    for name in names(&directory).into_iter().filter(|name| directory.join(name).is_dir()) {
        // A cluster has every kind, so that nothing is missing in it, and only one object of each name.
        if name == "bad-dump-of-nodes" || name.starts_with("bad-same-") || name == "same-node-twice" {
            continue;
        }
        let text = read(&directory.join(&name).join("cluster.yaml"))?;
        plane.apply(&text).map_err(|e| format!("{name}: {e}"))?;
        let outcome = compare(kubeconfig, &directory.join(&name), &name);
        let done = plane.kubectl(&["delete", "--wait=true", "--grace-period=0", "-f", "-"], &text)?;
        outcome?;
        if !done.ok {
            return Err(format!("{name}: {}", done.stderr).into());
        }
    }
    Ok(())
}

/// An account that lists nodes only: each other kind is named, and no profile is written.
fn without_rights(plane: &Plane) -> Outcome {
    let text = read(&root().join("tests/discover/gke-rdma/cluster.yaml"))?;
    plane.apply(&text)?;
    plane.apply(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: nodes-only}\nrules:\n- {apiGroups: [''], \
         resources: [nodes, namespaces], verbs: [list]}\n",
    )?;
    let kubeconfig = account(plane, "nodes-only", "nodes-only")?;
    let ran =
        run(&["discover", "--live", "--kubeconfig", &kubeconfig, "-o", "json"], b"", plane.directory())?;
    plane.kubectl(&["delete", "--wait=true", "--grace-period=0", "-f", "-"], &text)?;
    let value: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    same(&format!("exit code: {}", ran.stderr), 2, ran.code)?;
    same("profiles", 0, value["profiles"].as_array().map_or(1, Vec::len))?;
    let unread = value["unread"].as_array().into_iter().flatten();
    let unread: BTreeSet<&str> = unread.filter_map(|one| one["kind"].as_str()).collect();
    for kind in
        ["Network", "GKENetworkParamSet", "NodePool", "NetworkAttachmentDefinition", "SriovNetworkNodePolicy"]
    {
        assert!(unread.contains(kind), "{kind}: {unread:?}");
    }
    Ok(())
}

/// The live cluster gives the profiles of the dump, and the same nodes stay without one.
fn compare(kubeconfig: &str, case: &Path, name: &str) -> Result<(), String> {
    let live = run(&["discover", "--live", "--kubeconfig", kubeconfig, "-o", "json"], b"", case)?;
    let live: Value =
        serde_json::from_str(&live.stdout).map_err(|e| format!("{name}: {e}: {}", live.stderr))?;
    same(&format!("{name}: kinds that were not read"), &serde_json::json!([]), &live["unread"])?;
    let expected = read(&case.join("expected.yaml"))?;
    let expected: Vec<Value> = documents(expected.as_bytes()).into_iter().map(|(_, value)| value).collect();
    let profiles: Vec<Value> =
        live["profiles"].as_array().into_iter().flatten().map(|one| one["profile"].clone()).collect();
    same(&format!("{name}: profiles"), expected, profiles)?;
    let dump = run(&["discover", "--cluster", "cluster.yaml", "-o", "json"], b"", case)?;
    let dump: Value = serde_json::from_str(&dump.stdout).map_err(|e| format!("{name}: {e}"))?;
    let nodes = |of: &Value| -> BTreeSet<String> {
        let all = of["unknown"].as_array().into_iter().flatten();
        all.flat_map(|one| one["nodes"].as_array().into_iter().flatten().map(|node| node.to_string()))
            .collect()
    };
    same(&format!("{name}: nodes without a profile"), nodes(&dump), nodes(&live))
}

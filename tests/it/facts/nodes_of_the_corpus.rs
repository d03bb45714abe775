//! Nodes of the corpus as facts: what their owners dumped is read, and carries what it has and nothing else.

use crate::support::suite::{Need, Outcome, Suite};
use fabric_admission::demands::Subject;
use fabric_admission::json::decode_with_place;
use fabric_admission::manifest::{DocumentOrError, read_documents_of_file};
use fabric_admission::pod::PodView;
use fabric_admission::resolve::{Resolution, missing_networks_and_resources, resolve_profile_of_pod};
use fabric_admission::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::path::Path;

const T4: &str = "run-ai__fake-gpu-operator__node-dump-t4.yaml";
const DGX: &str = "kubernetes-sigs__kwok__node-virtual-dgxa100.yaml";
const SLICE: &str = "kubernetes-sigs__dranet__resourceslice-aks-mi300x.yaml";

pub(crate) fn add(suite: &mut Suite) {
    let Some(shared) = suite.need(Need::Shared, "corpus_nodes") else { return };
    let mut add = |name: &str, trial: fn(&Path) -> Outcome| {
        let corpus = shared.join("corpus");
        suite.add(format!("nodes_of_the_corpus::{name}"), move || trial(&corpus));
    };
    add("a_node_without_rdma_carries_no_rdma_profile", without_rdma);
    add("a_node_offers_its_rails", offers_rails);
    add("a_resource_slice_makes_no_node", slice);
}

/// A snapshot of files of the corpus and one profile; how many of the objects give facts.
fn snapshot(corpus: &Path, files: &[&str], spec: &Value) -> Result<(Snapshot, usize), String> {
    let mut builder = Builder::new(Vec::new());
    let mut taken = 0;
    for file in files {
        let bytes = std::fs::read(corpus.join(file)).map_err(|e| format!("{file}: {e}"))?;
        for item in read_documents_of_file(file, &bytes) {
            let DocumentOrError::Document(document) = item else { continue };
            let object: Value = serde_json::from_str(document.json.get()).map_err(|e| e.to_string())?;
            let group = object["apiVersion"].as_str().and_then(|v| v.split_once('/')).map_or("", |(g, _)| g);
            let kind = object["kind"].as_str().unwrap_or_default();
            taken += usize::from(Builder::takes(group, kind));
            let add = builder.add(Layer::Cluster, group, kind, document.json.get(), "default");
            add.map_err(|e| format!("{file}: {e}"))?;
        }
    }
    let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
    let profile = json!({"apiVersion": api, "kind": kind, "metadata": {"name": "site"}, "spec": spec});
    let add = builder.add(Layer::Cluster, "fabric-admission.dev", kind, &profile.to_string(), "default");
    add.map_err(|e| e.to_string())?;
    Ok((builder.build(), taken))
}

/// Profile and evidence of a pod that asks for accelerators and nothing else, whatever the nodes are tainted with.
fn resolved(snapshot: &Snapshot, selector: &Value) -> Result<Option<String>, String> {
    let pod = json!({"spec": {
        "nodeSelector": selector, "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "8"}}}],
    }});
    let text = pod.to_string();
    let pod: PodView<'_> = decode_with_place::decode_object(&text).map_err(|e| e.message)?;
    Ok(match resolve_profile_of_pod(&Subject::of(&pod, "default", snapshot), None) {
        Resolution::Profile { profile, evidence } => Some(format!("{}: {evidence:?}", profile.name)),
        _ => None,
    })
}

fn without_rdma(corpus: &Path) -> Outcome {
    let spec = |device: &str| {
        let label = format!("feature.node.kubernetes.io/pci-{device}.present");
        json!({"transport": "roce", "attachment": "none", "nodeSelector": {"matchLabels": {label: "true"}}})
    };
    let (rdma, taken) = snapshot(corpus, &[T4], &spec("15b3"))?;
    assert_eq!((taken, rdma.nodes_for_audience().len()), (1, 1));
    assert!(rdma.catalog().node_classes_of("site").is_some_and(|set| set.is_clear()));
    // The node has accelerators of no profile: its pods are nobody's.
    assert_eq!(resolved(&rdma, &json!({}))?, None);
    // The same node by the vendor of its accelerators.
    let (nvidia, _) = snapshot(corpus, &[T4], &spec("10de"))?;
    assert_eq!(resolved(&nvidia, &json!({}))?.as_deref(), Some("site: Nodes"));
    Ok(())
}

fn offers_rails(corpus: &Path) -> Outcome {
    let spec = |last: usize| {
        let resources = (1..=last).map(
            |i| json!({"name": format!("intel.com/mlnx_sriov_rdma{i}"), "quantity": 1, "per": "container"}),
        );
        let selector = json!({"matchLabels": {"kubernetes.io/arch": "amd64"}});
        json!({"transport": "roce", "attachment": "none", "nodeSelector": selector,
            "resources": resources.collect::<Vec<_>>()})
    };
    let (all, _) = snapshot(corpus, &[DGX], &spec(8))?;
    let view = all.nodes_for_audience();
    assert_eq!(view.len(), 1);
    let offered = (1..=8).filter(|i| {
        let name = format!("intel.com/mlnx_sriov_rdma{i}");
        view.classes_with_node_counts(view.classes().all()).all(|(_, class, _)| class.lists_resource(&name))
    });
    assert_eq!(offered.count(), 8);
    let gone = |snapshot: &Snapshot| {
        let profile = snapshot.profile("site").ok_or("no profile")?;
        Ok::<_, String>(
            missing_networks_and_resources(profile, "default", snapshot)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
        )
    };
    assert!(gone(&all)?.is_empty());
    let (more, _) = snapshot(corpus, &[DGX], &spec(9))?;
    assert_eq!(gone(&more)?, ["resource intel.com/mlnx_sriov_rdma9"]);
    Ok(())
}

/// Devices of a claim are not extended resources; a slice gives no fact yet, and is not an error.
fn slice(corpus: &Path) -> Outcome {
    let spec =
        json!({"transport": "roce", "attachment": "none", "nodeSelector": {"matchLabels": {"a": "b"}}});
    let (snapshot, taken) = snapshot(corpus, &[SLICE, T4], &spec)?;
    assert_eq!((taken, snapshot.nodes_for_audience().len()), (2, 1));
    Ok(())
}

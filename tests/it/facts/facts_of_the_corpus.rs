//! Facts from objects nobody here wrote: what a right reader gets out of the corpus.

use crate::support::round_trip::same;
use crate::support::suite::{Need, Suite};
use fabric_admission::demands::AcceleratorDemands;
use fabric_admission::manifest::{DocumentOrError, read_documents_of_file};
use fabric_admission::pod::PodView;
use fabric_admission::snapshot::{Builder, Layer, Snapshot};
use serde_json::Value;
use std::path::Path;

/// File, name, and known facts; `?` is unknown.
type Expected = (&'static str, &'static str, &'static str);

/// Who serves the resource, link layer, RDMA, sharing, units a NIC.
const RESOURCES: &[Expected] = &[
    (
        "Azure__aks-rdma-infiniband__nicclusterpolicy-rdmashared.yaml",
        "rdma/shared_ib",
        "SharedDevicePlugin InfiniBand rdma shared 63",
    ),
    (
        "Azure__aks-rdma-infiniband__nicclusterpolicy-sriovdp.yaml",
        "rdma/ib",
        "SriovDevicePlugin InfiniBand rdma exclusive ?",
    ),
    (
        "Mellanox__network-operator__nicclusterpolicy-full.yaml",
        "rdma/rdma_shared_device_a",
        "SharedDevicePlugin ? rdma shared 63",
    ),
    (
        "Mellanox__network-operator__nicclusterpolicy-full.yaml",
        "nvidia.com/hostdev",
        "SriovDevicePlugin ? rdma exclusive ?",
    ),
    (
        "Mellanox__network-operator__nodepolicy-infiniband.yaml",
        "nvidia.com/mlnxnics",
        "SriovOperator InfiniBand rdma exclusive 8",
    ),
    (
        "foundation-model-stack__multi-nic-cni__nodepolicy-no-isrdma.yaml",
        "openshift.io/sriovens1f0",
        "SriovOperator ? none exclusive 4",
    ),
    (
        "openshift__sriov-network-operator__nodepolicy-vfio-intel.yaml",
        "openshift.io/intelnics",
        "SriovOperator ? none exclusive 6",
    ),
    (
        "openshift-kni__cnf-features-deploy__nodepolicy-vfio-intel-comment.yaml",
        "openshift.io/mh_u_site_1_fqdn_worker1",
        "SriovOperator ? none exclusive 4",
    ),
    (
        "k8snetworkplumbingwg__sriov-network-operator__docblock-nodestate-switchdev.yaml",
        "openshift.io/switchdev",
        "SriovOperator ? none exclusive ?",
    ),
    (
        "k8snetworkplumbingwg__sriov-network-device-plugin__sriovdp-config-rdma.yaml",
        "mellanox.com/mlnx_rdma",
        "SriovDevicePlugin ? rdma exclusive ?",
    ),
    (
        "k8snetworkplumbingwg__sriov-network-device-plugin__sriovdp-config-rdma.yaml",
        "intel.com/intel_rdma",
        "SriovDevicePlugin ? rdma exclusive ?",
    ),
    (
        "kserve__kserve__network-roce-policies.yaml",
        "openshift.io/p13rdma",
        "SriovOperator Ethernet rdma exclusive 8",
    ),
];

/// Plugin (with `+rdma` where the RDMA device moves along), link layer, sharing, RDMA, resource.
const NETWORKS: &[Expected] = &[
    (
        "Mellanox__network-operator-docs__bundle-sriov-network-rdma.yaml",
        "default/sriov-rdma-network",
        "sriov Ethernet ExclusiveVf rdma */sriov_resource",
    ),
    (
        "Mellanox__network-operator-docs__bundle-host-device-rdma.yaml",
        "default/hostdev-net",
        "host-device ? ExclusiveNic rdma nvidia.com/hostdev",
    ),
    (
        "Mellanox__network-operator-docs__bundle-macvlan-rdma-shared.yaml",
        "default/macvlan-network",
        "macvlan Ethernet Shared ? ?",
    ),
    (
        "Mellanox__network-operator-docs__docblock-nad-ibsriov-rdma-chain.yaml",
        "default/ib-sriov-network",
        "ib-sriov+rdma InfiniBand ExclusiveVf rdma nvidia.com/mlnxnics",
    ),
    (
        "Mellanox__network-operator-docs__docblock-sriovnetwork-rdma-metaplugin.yaml",
        "default/example-sriov-network",
        "sriov+rdma Ethernet ExclusiveVf ? */sriov_resource",
    ),
    (
        "k8snetworkplumbingwg__rdma-cni__nad-sriov-rdma-chain.yaml",
        "default/sriov-rdma-net",
        "sriov+rdma Ethernet ExclusiveVf ? mellanox.com/sriov_rdma",
    ),
    (
        "k8snetworkplumbingwg__ib-sriov-cni__nad-ib-sriov.yaml",
        "default/ib-sriov-network",
        "ib-sriov InfiniBand ExclusiveVf rdma mellanox.com/mlnx_sriov_rdma_ib",
    ),
    (
        "Mellanox__network-operator__sriovibnetwork-bad-ipam-json.yaml",
        "default/example-sriov-ib-network",
        "ib-sriov InfiniBand ExclusiveVf rdma */mlnxnics",
    ),
    (
        "ROCm__network-operator__nad-amd-host-device.yaml",
        "default/amd-host-device-nad",
        "amd-host-device ? ? ? amd.com/vnic",
    ),
    (
        "Azure__aks-rdma-infiniband__ipoibnetwork.yaml",
        "default/aks-infiniband",
        "ipoib InfiniBand Shared ? ?",
    ),
    (
        "Mellanox__network-operator__macvlannetwork.yaml",
        "default/example-macvlannetwork",
        "macvlan Ethernet Shared ? ?",
    ),
    (
        "k8snetworkplumbingwg__multus-cni__macvlan-pod.yaml",
        "default/macvlan-conf",
        "macvlan Ethernet Shared ? ?",
    ),
    (
        "k8snetworkplumbingwg__multus-cni__sriov-pod.yaml",
        "default/sriov-net-a",
        "sriov Ethernet ExclusiveVf ? intel.com/sriov",
    ),
    (
        "kserve__kserve__network-roce-policies.yaml",
        "llm-test/roce-p2",
        "sriov Ethernet ExclusiveVf rdma */p2rdma",
    ),
];

/// Adds the trials.
pub(crate) fn add(suite: &mut Suite) {
    let Some(shared) = suite.need(Need::Shared, "facts") else { return };
    let corpus = shared.join("corpus");
    for expected in RESOURCES {
        let corpus = corpus.clone();
        let name = format!("facts::{}::{}", expected.0, expected.1);
        suite.add(name, move || Ok(resource(&corpus, expected)?));
    }
    for expected in NETWORKS {
        let corpus = corpus.clone();
        let name = format!("facts::{}::{}", expected.0, expected.1);
        suite.add(name, move || Ok(network(&corpus, expected)?));
    }
    let here = corpus.clone();
    suite.add("facts::node_state_without_status", move || Ok(switchdev(&here)?));
    let here = corpus.clone();
    suite.add("facts::resource_slice", move || Ok(slice(&here)?));
    let here = corpus.clone();
    suite.add("facts::macvlan_and_its_shared_pool", move || Ok(shared_pool(&here)?));
    suite.add("facts::claims", move || Ok(claims(&corpus)?));
}

/// Objects of a file as JSON.
fn objects(corpus: &Path, file: &str) -> Result<Vec<Value>, String> {
    let bytes = std::fs::read(corpus.join(file)).map_err(|e| format!("{file}: {e}"))?;
    let mut objects = Vec::new();
    for item in read_documents_of_file(file, &bytes) {
        match item {
            DocumentOrError::Document(document) => {
                objects.push(serde_json::from_str(document.json.get()).map_err(|e| e.to_string())?);
            }
            DocumentOrError::Error(error) => return Err(error.to_string()),
            DocumentOrError::Empty { .. } => {}
        }
    }
    Ok(objects)
}

fn facts(corpus: &Path, file: &str) -> Result<Snapshot, String> {
    let mut builder = Builder::default();
    for object in objects(corpus, file)? {
        let api = object["apiVersion"].as_str().unwrap_or_default();
        let group = api.split_once('/').map_or("", |(group, _)| group);
        let kind = object["kind"].as_str().unwrap_or_default();
        builder
            .add(Layer::Cluster, group, kind, &object.to_string(), "default")
            .map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(builder.build())
}

fn shown<T: std::fmt::Debug>(value: Option<T>) -> String {
    value.map_or_else(|| "?".to_owned(), |v| format!("{v:?}"))
}

fn either(value: Option<bool>, yes: &str, no: &str) -> String {
    value.map_or("?", |v| if v { yes } else { no }).to_owned()
}

fn resource(corpus: &Path, &(file, name, expected): &Expected) -> Result<(), String> {
    let facts = facts(corpus, file)?;
    let fact = facts.resource(name).ok_or("the resource is not known")?;
    let words = [
        format!("{:?}", fact.server),
        shown(fact.link),
        either(fact.rdma, "rdma", "none"),
        either(fact.shared, "shared", "exclusive"),
        shown(fact.per_nic),
    ];
    same("what is known", expected, words.join(" ").as_str())
}

fn network(corpus: &Path, &(file, name, expected): &Expected) -> Result<(), String> {
    let facts = facts(corpus, file)?;
    let (namespace, name) = name.split_once('/').unwrap_or_default();
    let fact = facts.network(namespace, name).ok_or("the network is not known")?;
    let class = facts.network_class_by_all_facts(fact);
    let words = [
        format!("{}{}", class.plugin.unwrap_or("?"), if class.isolation { "+rdma" } else { "" }),
        shown(class.link),
        shown(class.sharing),
        either(class.rdma, "rdma", "none"),
        fact.resource.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string),
    ];
    same("what is known", expected, words.join(" ").as_str())
}

fn switchdev(corpus: &Path) -> Result<(), String> {
    let file = "k8snetworkplumbingwg__sriov-network-operator__docblock-nodestate-switchdev.yaml";
    let facts = facts(corpus, file)?;
    let state = facts.cluster_facts_for_audience().node_state("node-a").ok_or("the node is not known")?;
    let names: Vec<&str> = state.interfaces.iter().map(|i| i.name.as_str()).collect();
    same("interfaces", vec!["enp216s0f0np0", "enp216s0f1np1"], names)?;
    same("virtual functions", Some(5), state.interfaces[0].num_vfs)?;
    let policies: Vec<_> = state.groups.iter().map(|g| g.policy.as_deref()).collect();
    same("policies", vec![Some("ovs-hw-offload"); 2], policies)?;
    same("RDMA mode and sync", (None, None), (state.rdma_exclusive, state.sync_status.as_deref()))
}

fn slice(corpus: &Path) -> Result<(), String> {
    let facts = facts(corpus, "kubernetes-sigs__dranet__resourceslice-aks-mi300x.yaml")?;
    let pools: Vec<_> = facts.cluster_facts_for_audience().dra_device_pools_of_driver("dra.net").collect();
    let [(name, pool)] = pools.as_slice() else { return Err(format!("expected one pool: {pools:?}")) };
    same("pool", "aks-gpu-37973606-vmss000000", *name)?;
    same("node", Some(*name), pool.node.as_deref())?;
    same("devices, those with RDMA, link layer", (8, 8, None), (pool.devices, pool.rdma, pool.link))
}

fn shared_pool(corpus: &Path) -> Result<(), String> {
    let facts = facts(corpus, "Mellanox__network-operator-docs__bundle-macvlan-rdma-shared.yaml")?;
    let network = facts.network("default", "macvlan-network").ok_or("the network is not known")?;
    let resource = facts.network_class_by_all_facts(network).resource.map(|r| r.name.to_string());
    same("pool over the master", Some("rdma/rdma_shared_device_a"), resource.as_deref())?;
    let class = facts.cluster_facts_for_audience().resolve_link_and_device_of_network(
        network,
        true,
        &mut ["rdma/rdma_shared_device_a"].into_iter(),
    );
    same("RDMA of a pod that asks for it", Some(true), class.rdma)
}

fn claims(corpus: &Path) -> Result<(), String> {
    let file = "GoogleCloudPlatform__container-engine-accelerators__gke-a4x-max-jobset.yaml";
    let facts = facts(corpus, file)?;
    let claim = facts.claim_template("default", "nccl-test-all-mrdma").ok_or("the template is not known")?;
    let asked = claim.requests.iter().flat_map(|r| &r.options).map(|a| (a.class.as_str(), a.count));
    same("requests", vec![("mrdma.google.com", Some(8))], asked.collect())?;
    let pod = |template: &str| {
        format!(
            r#"{{"spec":{{"resourceClaims":[{{"name":"c","resourceClaimTemplateName":"{template}"}}],
                "containers":[{{"resources":{{"claims":[{{"name":"c"}}]}}}}]}}}}"#
        )
    };
    for (template, expected) in [("nccl-test-all-mrdma", Some(0)), ("elsewhere", None)] {
        let json = pod(template);
        let pod: PodView<'_> = serde_json::from_str(&json).map_err(|e| e.to_string())?;
        same(
            template,
            expected,
            AcceleratorDemands::demands_of_pod(&pod, "default", &facts).whole_accelerators_taken_from_node(),
        )?;
    }
    Ok(())
}

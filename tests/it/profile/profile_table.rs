//! Profiles that are wrong, or right at the edge, and who says so: `Profile::resolve` for files, the CRD for objects.
//! The table is read twice: here against `resolve`, and in `e2e::crd_of_profiles` against a real API server.

use crate::support::generated_world::bases;
use crate::support::suite::Suite;
use fabric_admission::json::decode_with_place::decode_object;
use fabric_admission::profile::schema::Transport;
use fabric_admission::profile::{FabricProfile, Profile};
use serde_json::{Value, json};

/// Who refuses a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// Both, at the same field.
    Both,
    /// `resolve` alone, and why the CRD cannot.
    Resolve(&'static str),
    /// The CRD alone, and why a file may have it.
    Crd(&'static str),
    /// Nobody.
    Nobody,
}

/// Name, spec, who refuses it, and the field that the refusal names: as the API server writes it.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) spec: &'static str,
    pub(crate) by: By,
    pub(crate) field: &'static str,
}

const fn row(name: &'static str, spec: &'static str, by: By, field: &'static str) -> Row {
    Row { name, spec, by, field }
}

const BASES: By =
    By::Resolve("the bases belong to the binary, not to the CRD: their list grows with a release");
const RAILS: By = By::Resolve("it takes the whole list of interfaces, defaults and the base's rails");

const LEVEL: By = By::Resolve("the level is the base's");

/// 65 instance types.
const MANY: &str = r#"{"base":"roce-sriov","instanceTypes":["00","01","02","03","04","05","06","07","08","09","10","11","12",
    "13","14","15","16","17","18","19","20","21","22","23","24","25","26","27","28","29","30","31","32","33","34","35","36",
    "37","38","39","40","41","42","43","44","45","46","47","48","49","50","51","52","53","54","55","56","57","58","59","60",
    "61","62","63","64"]}"#;

/// The text four times.
macro_rules! four {
    ($($text:tt)*) => { concat!($($text)*, $($text)*, $($text)*, $($text)*) };
}

/// 1,029 values: four times 241, and 65.
const MANY_VALUES: &str = concat!(
    r#"{"base":"roce-sriov","nodeSelector":{"matchExpressions":["#,
    four!(
        r#"{"key":"a","operator":"NotIn","values":["#,
        four!(four!(r#""","","","","","","","","","","","","","","","#)),
        r#"""]},"#
    ),
    r#"{"key":"b","operator":"NotIn","values":["#,
    four!(four!(r#""","","","","#)),
    r#"""]}]}}"#
);

#[rustfmt::skip]
pub(crate) const TABLE: &[Row] = &[
    row("a-base", r#"{"base":"roce-sriov"}"#, By::Nobody, ""),
    row("own-shape", r#"{"transport":"ethernet","attachment":"none"}"#, By::Nobody, ""),
    row("nothing", "{}", By::Both, "spec.transport"),
    row("no-attachment", r#"{"transport":"roce"}"#, By::Both, "spec.attachment"),
    row("no-transport", r#"{"attachment":"none"}"#, By::Both, "spec.transport"),
    row("unknown-base", r#"{"base":"roce-sirov"}"#, BASES, "spec.base"),
    row("versions", r#"{"base":"roce-sriov","ncclVersion":"2.27.5","env":[{"name":"NCCL_IB_GID_INDEX","value":"3","ncclFrom":"2.18","ncclBefore":"2.21"}]}"#, By::Nobody, ""),
    row("version-of-a-word", r#"{"base":"roce-sriov","ncclVersion":"latest"}"#, By::Both, "spec.ncclVersion"),
    row("version-of-nccl-1", r#"{"base":"roce-sriov","ncclVersion":"1.3"}"#, By::Both, "spec.ncclVersion"),
    row("version-in-part", r#"{"base":"roce-sriov","env":[{"name":"A","value":"3","ncclFrom":"2."}]}"#, By::Both, "spec.env[0].ncclFrom"),
    row("versions-turned", r#"{"base":"roce-sriov","env":[{"name":"A","value":"3","ncclFrom":"2.21","ncclBefore":"2.20"}]}"#, By::Resolve("an order of numbers in two texts"), "spec.env[0].ncclBefore"),
    row("a-file", r#"{"base":"azure-nd","ncclConf":"image","files":[{"name":"topology.xml","content":"<a/>"}]}"#, By::Nobody, ""),
    row("file-nccl-conf", r#"{"base":"azure-nd","files":[{"name":"nccl.conf","content":"A=1"}]}"#, By::Both, "spec.files[0].name"),
    row("file-with-a-path", r#"{"base":"azure-nd","files":[{"name":"a/b","content":"A=1"}]}"#, By::Both, "spec.files[0].name"),
    row("file-upwards", r#"{"base":"azure-nd","files":[{"name":"..","content":"A=1"}]}"#, By::Both, "spec.files[0].name"),
    row("file-without-text", r#"{"base":"azure-nd","files":[{"name":"a","content":""}]}"#, By::Both, "spec.files[0].content"),
    row("file-twice", r#"{"base":"azure-nd","files":[{"name":"a","content":"x"},{"name":"a","content":"y"}]}"#, By::Both, "spec.files[1]"),
    row("no-accelerators", r#"{"base":"roce-sriov","acceleratorsPerNode":0}"#, By::Both, "spec.acceleratorsPerNode"),
    row("65-accelerators", r#"{"base":"roce-sriov","acceleratorsPerNode":65}"#, By::Both, "spec.acceleratorsPerNode"),
    row("64-accelerators", r#"{"base":"roce-sriov","acceleratorsPerNode":64}"#, By::Nobody, ""),
    row("network-with-a-dot", r#"{"base":"roce-sriov","rails":[{"network":"a/b.c"}]}"#, By::Both, "spec.rails[0].network"),
    row("network-in-capitals", r#"{"base":"roce-sriov","rails":[{"network":"a/B"}]}"#, By::Both, "spec.rails[0].network"),
    row("network-of-three-parts", r#"{"base":"roce-sriov","rails":[{"network":"a/b/c"}]}"#, By::Both, "spec.rails[0].network"),
    row("network-alone", r#"{"base":"roce-sriov","rails":[{"network":"b"}]}"#, By::Nobody, ""),
    row("rail-counts-none", r#"{"base":"roce-sriov","rails":[{"network":"b","count":0}]}"#, By::Both, "spec.rails[0].count"),
    row("rail-counts-65", r#"{"base":"roce-sriov","rails":[{"network":"b","count":65}]}"#, By::Both, "spec.rails[0].count"),
    row("rails-count-65", r#"{"base":"roce-sriov","rails":[{"network":"b","count":64},{"network":"c"}]}"#, By::Both, "spec.rails"),
    row("rails-count-64", r#"{"base":"roce-sriov","rails":[{"network":"b","count":63},{"network":"c"}]}"#, By::Nobody, ""),
    row("interface-eth0", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"eth0"}]}"#, By::Both, "spec.rails[0].interface"),
    row("interface-net12", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"net12"}]}"#, By::Both, "spec.rails[0].interface"),
    row("interface-lo", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"lo"}]}"#, By::Both, "spec.rails[0].interface"),
    row("interface-dots", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":".."}]}"#, By::Both, "spec.rails[0].interface"),
    row("interface-bracket", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"a["}]}"#, By::Both, "spec.rails[0].interface"),
    row("interface-of-16", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"a123456789012345"}]}"#, By::Both, "spec.rails[0].interface"),
    row("interface-net", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"net"}]}"#, By::Nobody, ""),
    row("interface-counts-from-nothing", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"rail","count":2}]}"#, By::Both, "spec.rails[0].interface"),
    row("interface-counts", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"rail4","count":2}]}"#, By::Nobody, ""),
    row("interface-twice", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"a"},{"network":"c","interface":"a"}]}"#, By::Both, "spec.rails"),
    row("interface-counts-into-another", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"a0","count":2},{"network":"c","interface":"a1"}]}"#, RAILS, "spec.rails"),
    row("interface-counts-past-15", r#"{"base":"roce-sriov","rails":[{"network":"b","interface":"abcdefghijklmn9","count":2}]}"#, RAILS, "spec.rails[0].interface"),
    row("rail-of-kubernetes", r#"{"base":"roce-sriov","rails":[{"network":"b","resource":"kubernetes.io/vf"}]}"#, By::Both, "spec.rails[0].resource"),
    row("rail-without-domain", r#"{"base":"roce-sriov","rails":[{"network":"b","resource":"vf"}]}"#, By::Both, "spec.rails[0].resource"),
    row("resource-of-kubernetes", r#"{"base":"roce-sriov","resources":[{"name":"x.kubernetes.io/vf","quantity":1}]}"#, By::Both, "spec.resources[0].name"),
    row("resource-of-none", r#"{"base":"roce-sriov","resources":[{"name":"a/b","quantity":0}]}"#, By::Both, "spec.resources[0].quantity"),
    row("resource-of-1025", r#"{"base":"roce-sriov","resources":[{"name":"a/b","quantity":1025}]}"#, By::Both, "spec.resources[0].quantity"),
    row("resource-twice", r#"{"base":"roce-sriov","resources":[{"name":"a/b","quantity":1},{"name":"a/b","quantity":2}]}"#, By::Both, "spec.resources[1]"),
    row("resource-of-a-rail", r#"{"base":"roce-sriov","rails":[{"network":"b","resource":"a/b"}],"resources":[{"name":"a/b","quantity":1}]}"#, By::Both, "spec.resources"),
    row("resource-of-the-base's-rail", r#"{"base":"roce-sriov","resources":[{"name":"nvidia.com/sriov_resource","quantity":1}]}"#, RAILS, "spec.resources"),
    row("variable-without-value", r#"{"base":"roce-sriov","env":[{"name":"A"}]}"#, By::Both, "spec.env[0].value"),
    row("variable-forbidden", r#"{"base":"roce-sriov","env":[{"name":"A","policy":"forbid"}]}"#, By::Nobody, ""),
    row("variable-forbidden-with-value", r#"{"base":"roce-sriov","env":[{"name":"A","value":"1","policy":"forbid"}]}"#, By::Both, "spec.env[0].value"),
    row("variable-twice", r#"{"base":"roce-sriov","env":[{"name":"A","value":"1"},{"name":"A","value":"1"}]}"#, By::Both, "spec.env[1]"),
    row("variable-with-a-dash", r#"{"base":"roce-sriov","env":[{"name":"A-B","value":"1"}]}"#, By::Both, "spec.env[0].name"),
    row("variable-of-the-loader", r#"{"base":"roce-sriov","env":[{"name":"LD_PRELOAD","value":"x"}]}"#, By::Both, "spec.env[0].name"),
    row("variable-path", r#"{"base":"roce-sriov","env":[{"name":"PATH","value":"x"}]}"#, By::Both, "spec.env[0].name"),
    row("value-that-expands", r#"{"base":"roce-sriov","env":[{"name":"A","value":"x$(B)"}]}"#, By::Both, "spec.env[0].value"),
    row("value-with-a-dollar", r#"{"base":"roce-sriov","env":[{"name":"A","value":"x$B"}]}"#, By::Nobody, ""),
    row("value-with-a-line-break", r#"{"base":"roce-sriov","env":[{"name":"A","value":"x\ny"}]}"#, By::Both, "spec.env[0].value"),
    row("value-with-a-c1-control", "{\"base\":\"roce-sriov\",\"env\":[{\"name\":\"A\",\"value\":\"x\u{85}\"}]}", By::Both, "spec.env[0].value"),
    row("memlock-runtime", r#"{"base":"roce-sriov","memlock":"runtime"}"#, By::Nobody, ""),
    row("memlock-misspelt", r#"{"base":"roce-sriov","memlock":"infinity"}"#, By::Both, "spec.memlock"),
    row("memlock-twice", r#"{"base":"roce-sriov","memlock":"nri","ipcLock":true}"#, By::Both, "spec.memlock"),
    row("gke-networks", r#"{"base":"ethernet-tcp","gkeNetworks":{"defaultInterface":"eth0","interfaces":[{"interfaceName":"eth0","network":"default"}]}}"#, By::Nobody, ""),
    row("gke-networks-of-a-base", r#"{"base":"gke-rdma"}"#, By::Nobody, ""),
    row("gke-networks-with-rails", r#"{"base":"gke-rdma","rails":[{"network":"b"}],"gkeNetworks":{"defaultInterface":"a","interfaces":[{"interfaceName":"a","network":"b"}]}}"#, By::Both, "spec.gkeNetworks"),
    row("gke-networks-of-the-base-with-rails", r#"{"base":"gke-rdma","rails":[{"network":"b"}]}"#, RAILS, "spec.gkeNetworks"),
    row("gke-networks-of-none", r#"{"base":"gke-rdma","gkeNetworks":{"defaultInterface":"a","interfaces":[]}}"#, By::Both, "spec.gkeNetworks.interfaces"),
    row("gke-interface-twice", r#"{"base":"gke-rdma","gkeNetworks":{"defaultInterface":"a","interfaces":[{"interfaceName":"a","network":"b"},{"interfaceName":"a","network":"c"}]}}"#, By::Both, "spec.gkeNetworks.interfaces[1]"),
    row("gke-interface-in-capitals", r#"{"base":"gke-rdma","gkeNetworks":{"defaultInterface":"a","interfaces":[{"interfaceName":"a","network":"b"},{"interfaceName":"A","network":"c"}]}}"#, By::Both, "spec.gkeNetworks.interfaces[1].interfaceName"),
    row("gke-network-with-a-slash", r#"{"base":"gke-rdma","gkeNetworks":{"defaultInterface":"a","interfaces":[{"interfaceName":"a","network":"b/c"}]}}"#, By::Both, "spec.gkeNetworks.interfaces[0].network"),
    row("gke-default-of-none", r#"{"base":"gke-rdma","gkeNetworks":{"defaultInterface":"b","interfaces":[{"interfaceName":"a","network":"b"}]}}"#, By::Both, "spec.gkeNetworks.defaultInterface"),
    row("gke-annotation-of-another-domain", r#"{"base":"gke-rdma","gkeNetworks":{"annotations":{"example.com/a":"b"}}}"#, By::Both, "spec.gkeNetworks"),
    row("host-network", r#"{"base":"roce-host-device","attachment":"host-network","rails":[]}"#, By::Nobody, ""),
    row("host-network-with-rails", r#"{"base":"roce-host-device","attachment":"host-network","rails":[{"network":"b"}]}"#, By::Both, "spec.rails"),
    row("host-network-with-the-base's-rails", r#"{"base":"roce-host-device","attachment":"host-network"}"#, RAILS, "spec.rails"),
    row("word-for-number", r#"{"base":"roce-sriov","env":[{"name":"NCCL_IB_TC","value":"high"}]}"#, By::Resolve("the list of NCCL's numbers is long, and grows with NCCL"), "spec.env[0].value"),
    row("memory-is-text", r#"{"base":"roce-sriov","sharedMemory":{"perAccelerator":"much"}}"#, By::Both, "spec.sharedMemory.perAccelerator"),
    row("memory-is-little", r#"{"base":"roce-sriov","sharedMemory":{"perAccelerator":"63Mi"}}"#, By::Both, "spec.sharedMemory.perAccelerator"),
    row("memory-is-negative", r#"{"base":"roce-sriov","sharedMemory":{"perAccelerator":"-8Gi"}}"#, By::Both, "spec.sharedMemory.perAccelerator"),
    row("memory-is-just-enough", r#"{"base":"roce-sriov","sharedMemory":{"perAccelerator":"0.0625Gi"}}"#, By::Nobody, ""),
    row("memory-in-exponents", r#"{"base":"roce-sriov","sharedMemory":{"perAccelerator":"8e9"}}"#, By::Nobody, ""),
    row("bootstrap-of-no-rail", r#"{"base":"roce-sriov","bootstrap":"rail9"}"#, RAILS, "spec.bootstrap"),
    row("bootstrap-in-capitals", r#"{"base":"roce-sriov","bootstrap":"Eth0"}"#, By::Both, "spec.bootstrap"),
    row("bootstrap-of-a-rail", r#"{"base":"roce-sriov","bootstrap":"rail7"}"#, By::Nobody, ""),
    row("instance-type-twice", r#"{"base":"roce-sriov","instanceTypes":["a","a"]}"#, By::Crd("it does no harm; a set is how two appliers share the list"), "spec.instanceTypes[1]"),
    row("base-is-null", r#"{"base":null,"transport":"roce"}"#, By::Both, "spec.attachment"),
    row("priority-is-null", r#"{"base":"roce-sriov","priority":null}"#, By::Nobody, ""),
    row("many-values", MANY_VALUES, By::Both, "spec.nodeSelector.matchExpressions"),
    row("many-instance-types", MANY, By::Both, "spec.instanceTypes"),
    row("transport-misspelt", r#"{"transport":"rocev2","attachment":"none"}"#, By::Both, "spec.transport"),
    row("preflight", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","verdict":"fail","checks":{"PF101":"skip"},"install":"imageVolume"}}"#, By::Nobody, ""),
    row("preflight-without-image", r#"{"base":"roce-sriov","preflight":{}}"#, By::Both, "spec.preflight"),
    row("preflight-by-tag", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f:1"}}"#, By::Both, "spec.preflight.image"),
    row("preflight-short-digest", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d"}}"#, By::Both, "spec.preflight.image"),
    row("preflight-of-no-check", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","checks":{"FAB101":"skip"}}}"#, By::Both, "spec.preflight.checks"),
    row("preflight-check-off", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","checks":{"PF101":false}}}"#, By::Both, "spec.preflight.checks.PF101"),
    row("preflight-rate-and-peers", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","rate":400,"peers":["rendezvous.training.svc:29500","10.0.0.1:80","[fd00::1]:443"]}}"#, By::Nobody, ""),
    row("preflight-rate-of-nothing", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","rate":0}}"#, By::Both, "spec.preflight.rate"),
    row("preflight-rate-of-a-dream", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","rate":100001}}"#, By::Both, "spec.preflight.rate"),
    row("preflight-peer-without-port", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","peers":["a:1","rendezvous"]}}"#, By::Both, "spec.preflight.peers[1]"),
    row("preflight-peer-of-port-0", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","peers":["a:0"]}}"#, By::Both, "spec.preflight.peers[0]"),
    row("preflight-peer-with-a-space", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","peers":["a b:1"]}}"#, By::Both, "spec.preflight.peers[0]"),
    row("preflight-17-peers", r#"{"base":"roce-sriov","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","peers":["a:1","a:2","a:3","a:4","a:5","a:6","a:7","a:8","a:9","a:10","a:11","a:12","a:13","a:14","a:15","a:16","a:17"]}}"#, By::Both, "spec.preflight.peers"),
    row("preflight-annotations-only", r#"{"base":"roce-sriov","inject":"annotations","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d"}}"#, By::Both, "spec.inject"),
    row("preflight-of-a-base-for-annotations", r#"{"base":"gke-rdma","preflight":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d"}}"#, LEVEL, "spec.inject"),
    row("monitor", r#"{"base":"roce-sriov","monitor":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","port":9999,"scrape":"none","resources":{"cpu":"50m","memory":"128Mi","ephemeralStorage":"1Gi"}}}"#, By::Nobody, ""),
    row("monitor-by-tag", r#"{"base":"roce-sriov","monitor":{"image":"r.io/f"}}"#, By::Both, "spec.monitor.image"),
    row("monitor-low-port", r#"{"base":"roce-sriov","monitor":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","port":80}}"#, By::Both, "spec.monitor.port"),
    row("monitor-without-cpu", r#"{"base":"roce-sriov","monitor":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","resources":{"cpu":"0"}}}"#, By::Both, "spec.monitor.resources.cpu"),
    row("monitor-little-memory", r#"{"base":"roce-sriov","monitor":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","resources":{"memory":"16Mi"}}}"#, By::Both, "spec.monitor.resources.memory"),
    row("monitor-little-storage", r#"{"base":"roce-sriov","monitor":{"image":"r.io/f@sha256:4f6d1d1e7b0a3c5e9d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d","resources":{"ephemeralStorage":"16k"}}}"#, By::Both, "spec.monitor.resources.ephemeralStorage"),
    row("field-misspelt", r#"{"base":"roce-sriov","nodeselector":{}}"#, By::Both, "spec.nodeselector"),
    row("rail-misspelt", r#"{"base":"roce-sriov","rails":[{"network":"b","interfaces":"rail0"}]}"#, By::Both, "spec.rails[0].interfaces"),
];

impl Row {
    /// The whole object.
    pub(crate) fn object(&self) -> Result<Value, String> {
        let spec: Value = serde_json::from_str(self.spec).map_err(|e| format!("{}: {e}", self.name))?;
        let name = format!("t-{}", self.name.replace('\'', ""));
        let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
        Ok(json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}))
    }
}

pub(crate) fn add(suite: &mut Suite) {
    for row in TABLE {
        suite.add(format!("profile_table::{}", row.name), || Ok(judge(row)?));
    }
    suite.add("profile_table::lists_beyond_the_limits_of_the_crd", || Ok(long_lists()?));
    suite.add("profile_table::bases_of_rdma_say_how_memory_is_pinned", || Ok(memlock()?));
}

/// A file, or a request that no CRD has checked, is held to the limits of the CRD: one entry more than each allows is
/// refused at that list.
fn long_lists() -> Result<(), String> {
    let schema = schemars::schema_for!(FabricProfile).to_value();
    let spec = &schema["$defs"]["Spec"];
    let mut bounded = Vec::new();
    bounds(&schema, spec, "/spec", json!({}), &mut bounded);
    if bounded.len() < 15 {
        return Err(format!("only {} lists of the schema are bounded", bounded.len()));
    }
    let mut wrong = Vec::new();
    for (pointer, spec) in bounded {
        let profile = json!({
            "apiVersion": "fabric-admission.dev/v1alpha1",
            "kind": "FabricProfile",
            "metadata": {"name": "long"},
            "spec": spec
        });
        // A map ends while it is read, a list before anything is done with it.
        let refused = match decode_object::<FabricProfile>(&profile.to_string()) {
            Err(error) => Some((error.pointer, error.message)),
            Ok(profile) => {
                Profile::checked_with_base(&profile, bases()).err().map(|e| (e.pointer, e.message))
            }
        };
        match refused {
            Some((at, message)) if at == pointer && message.contains("expected at most") => {}
            other => wrong.push(format!("{pointer}: {other:?}")),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// For each bounded list or map below a schema: its pointer, and a spec in which it has one entry too many.
fn bounds(root: &Value, schema: &Value, pointer: &str, spec: Value, found: &mut Vec<(String, Value)>) {
    let schema = follow(root, schema);
    let with = |value: Value| {
        let mut spec = spec.clone();
        put(&mut spec, &pointer.split('/').skip(2).collect::<Vec<_>>(), value);
        spec
    };
    if let Some(most) = schema["maxItems"].as_u64() {
        let entry = least(root, &schema["items"]);
        found.push((pointer.to_owned(), with(vec![entry.clone(); most as usize + 1].into())));
        bounds(root, &schema["items"], &format!("{pointer}/0"), with(json!([entry])), found);
    }
    if let Some(most) = schema["maxProperties"].as_u64() {
        let entries =
            (0..=most).map(|n| (format!("k{n}"), least(root, &schema["additionalProperties"]))).collect();
        found.push((pointer.to_owned(), with(Value::Object(entries))));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let spec = if pointer == "/spec" { json!({}) } else { with(least(root, schema)) };
        bounds(root, property, &format!("{pointer}/{name}"), spec, found);
    }
}

/// The schema behind a reference, or behind `anyOf` with null.
fn follow<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    if let Some(name) = schema["$ref"].as_str() {
        return follow(root, &root["$defs"][name.trim_start_matches("#/$defs/")]);
    }
    match schema["anyOf"].as_array().and_then(|any| any.first()) {
        Some(first) => follow(root, first),
        None => schema,
    }
}

/// The smallest value of a schema, by its required fields.
fn least(root: &Value, schema: &Value) -> Value {
    let schema = follow(root, schema);
    if let Some(value) = schema["enum"].get(0).or_else(|| schema["oneOf"][0].get("const")) {
        return value.clone();
    }
    if let Some(required) = schema["required"].as_array() {
        let names = required.iter().filter_map(Value::as_str);
        return names.map(|n| (n.to_owned(), least(root, &schema["properties"][n]))).collect();
    }
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("integer") => json!(1),
        Some("array") => json!([]),
        Some("string") => json!("a"),
        _ => json!({}),
    }
}

fn put(value: &mut Value, path: &[&str], new: Value) {
    match path.split_first() {
        None => *value = new,
        Some((first, rest)) if value.is_array() => {
            put(&mut value[first.parse::<usize>().unwrap()], rest, new)
        }
        Some((first, rest)) => put(&mut value[*first], rest, new),
    }
}

/// EFA registers memory with the adapter as verbs do, so its base has an answer as well.
fn memlock() -> Result<(), String> {
    for base in bases() {
        let profile = Profile::checked_with_base(base, &[]).map_err(|e| e.to_string())?;
        let pins = profile.transport.is_verbs() || profile.transport == Transport::Efa;
        if pins && profile.memlock.is_none() {
            return Err(format!("{}: neither memlock nor ipcLock: true", profile.name));
        }
    }
    Ok(())
}

/// What a file of this profile gets: the pointer of the value at fault, if there is one.
fn judge(row: &Row) -> Result<(), String> {
    let json = row.object()?.to_string();
    let found = match fabric_admission::json::decode_with_place::decode_object::<FabricProfile>(&json) {
        Err(error) => Err((error.pointer.clone(), error.to_string())),
        Ok(profile) => Profile::checked_with_base(&profile, bases())
            .map(|_| ())
            .map_err(|e| (e.pointer.clone(), e.to_string())),
    };
    match (found, row.by) {
        (Ok(()), By::Nobody | By::Crd(_)) => Ok(()),
        (Ok(()), by) => Err(format!("accepted, but {by:?} refuses it")),
        (Err((_, message)), By::Nobody | By::Crd(_)) => Err(format!("refused: {message}")),
        (Err((pointer, message)), _) => {
            let named = row.field.replace(['[', '.'], "/").replace(']', "");
            let same = format!("{pointer}/").starts_with(&format!("/{named}/"));
            if same { Ok(()) } else { Err(format!("names {pointer}, not {}: {message}", row.field)) }
        }
    }
}

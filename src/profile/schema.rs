//! The schema of a `FabricProfile`: what one fabric asks of a pod.
//!
//! One type, [`Spec`], serves the files, the JSON schema and the CRD (docs/adr/0008-one-profile-type.md). Unknown
//! fields are refused: a misspelt key that is dropped silently costs a training run. The comments of the fields are
//! what `kubectl explain` prints, so they speak to an operator.

use super::gke::{GkeNetworks, INTERFACE};
use super::ignorable::Ignorable;
use super::memlock::Memlock;
use super::metadata::Metadata;
use super::placement::Placement;
use super::status::FabricProfileStatus;
use super::unknown_claims::UnknownClaims;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `apiVersion` of a FabricProfile.
pub const API_VERSION: &str = "fabric-admission.dev/v1alpha1";
/// `kind` of a FabricProfile.
pub const KIND: &str = "FabricProfile";

/// `namespace/name` or `name`, without a dot in the name.
const NETWORK: &str = "^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// `domain/name` of an extended resource.
const RESOURCE: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/\
                        [A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
/// Names of small files.
const FILE: &str = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
/// Versions of NCCL.
const VERSION: &str = "^2\\.[0-9]{1,3}(\\.[0-9]{1,3})?$";
/// Names of variables.
const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// A cluster-scoped object (or YAML file) that says which rails, resources and settings a pod needs on one
/// fabric, and who may use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FabricProfile {
    /// Always `fabric-admission.dev/v1alpha1`.
    pub api_version: String,
    /// Always `FabricProfile`.
    pub kind: String,
    /// Name and bookkeeping.
    #[serde(deserialize_with = "super::metadata::strict")]
    pub metadata: Metadata,
    /// What the fabric asks.
    pub spec: Spec,
    /// Written by the controller; accepted so that an exported object loads, and ignored.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub status: Option<serde_json::Value>,
}

// The derive makes `Served`, the object as the API server serves it, from which the CRD is generated. It takes any key
// beside `spec`, as Kubernetes' own types do; files are read as the stricter `FabricProfile`.
/// Settings of one fabric. Fields that are absent are inherited from `base`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, kube::CustomResource)]
#[kube(
    group = "fabric-admission.dev",
    version = "v1alpha1",
    kind = "FabricProfile",
    root = "Served",
    doc = "What one fabric asks of a pod: rails, resources and settings, and who may use it.",
    shortname = "fprof",
    status = "FabricProfileStatus",
    printcolumn = r#"{"name":"Base","type":"string","jsonPath":".spec.base"}"#,
    printcolumn = r#"{"name":"Transport","type":"string","jsonPath":".spec.transport"}"#,
    printcolumn = r#"{"name":"Attachment","type":"string","jsonPath":".spec.attachment","priority":1}"#,
    printcolumn = r#"{"name":"Priority","type":"integer","jsonPath":".spec.priority"}"#,
    printcolumn = r#"{"name":"Nodes","type":"integer","jsonPath":".status.matchingNodes"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// Name of a compiled-in profile, such as `roce-sriov`, whose values fill the fields that are absent here. Without
    /// a base, `transport` and `attachment` are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub base: Option<String>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Nodes that carry this fabric, by their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<LabelSelector>,
    /// Values of `node.kubernetes.io/instance-type` that carry this fabric; used while a pool is at zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 63)))]
    pub instance_types: Option<Vec<String>>,
    /// Decides among profiles of the same nodes; the larger wins. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Namespaces that may use the profile, by their labels. Absent: every namespace that opted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<LabelSelector>,
    /// When the profile applies to a pod that did not name it. A pod that names it gets it in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// How much may be written into pods. Default `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Inject>,
    /// What NCCL runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// How the NIC reaches the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<Attachment>,
    /// Whole accelerators of one node (count, 1 to 64, default 8). A pod with fewer gets its share of interchangeable
    /// rails; `when` counts by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub accelerators_per_node: Option<u32>,
    /// The NIC paths of a pod that uses a whole node, in rail order (at most 64 with their counts). They replace the
    /// base's, and with them its `resources` and `subsets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub rails: Option<Vec<Rail>>,
    /// Named parts of the rails, for pods that ask for one with annotation `fabric-admission.dev/rails`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub subsets: Option<Vec<Subset>>,
    /// Networks of a GKE cluster, by its own annotations and not by Multus'. A profile with them has no `rails`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gke_networks: Option<GkeNetworks>,
    /// Resources that do not follow the rails one to one, such as a shared HCA, which is asked once. A profile
    /// with rails of its own does not inherit the base's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub resources: Option<Vec<Resource>>,
    /// Whether containers get `IPC_LOCK`, which lets root pin memory beyond the memlock limit: `true` is short for
    /// `memlock: ipcLock`. Default: true for transport `roce` and `infiniband`, else false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipc_lock: Option<bool>,
    /// How containers pin memory beyond the runtime's memlock limit, where `ipcLock` does not say enough; one of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memlock: Option<Memlock>,
    /// Variables of NCCL and its companions. They merge with the base's by name, so that setting one does not
    /// lose the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub env: Option<Vec<EnvVar>>,
    /// Version of NCCL in the images of this fabric, such as `2.27.5`, where an image's name does not tell. It decides
    /// about variables that have `ncclFrom` or `ncclBefore`, and about nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = VERSION))]
    pub nccl_version: Option<String>,
    /// Who writes `/etc/nccl.conf`: `inject` (default) or `image`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nccl_conf: Option<NcclConf>,
    /// Small files, such as a topology or the settings of cuFile, at `/etc/fabric-admission/NAME` in containers that
    /// ask for accelerators. Point a variable there. At most 8, of 64 KiB each and 192 KiB together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8))]
    pub files: Option<Vec<SmallFile>>,
    /// Size of `/dev/shm`, which NCCL and data loaders share memory through. Default: 8Gi for each accelerator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemory>,
    /// What becomes of a pod that the mutating webhook missed. Default `deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_missing: Option<OnMissing>,
    /// What annotation `fabric-admission.dev/ignore.FABnnn` may set aside: `warnings` (default) or `errors` as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignorable: Option<Ignorable>,
    /// Whether NCCL is kept to its own InfiniBand/RoCE transport: `true` sets `NCCL_NET=IB`, so that NCCL stops at start-up
    /// where RDMA does not work, instead of running over TCP. The cost: an image that brings a network plugin, such as
    /// HPC-X with SHARP, stops too, because the plugin's transport has another name. Default: false; the RoCE bases
    /// set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin_transport: Option<bool>,
    /// What a claim (DRA) on devices of an unknown driver means: `block` (default) or `ignore`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_claims: Option<UnknownClaims>,
    /// Where the pods of the profile go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Interface of NCCL's bootstrap and out-of-band traffic: `eth0` or the interface of a rail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 15), regex(pattern = INTERFACE))]
    pub bootstrap: Option<String>,
}

/// One NIC path of a pod: a network attachment and the device that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rail {
    /// NetworkAttachmentDefinition, `namespace/name`; without a namespace it is looked for in the pod's own.
    #[schemars(length(max = 317), regex(pattern = NETWORK))]
    pub network: String,
    /// Extended resource that hands out the device, one unit an attachment. Absent where the network needs
    /// none of its own (macvlan or IPoIB over a shared HCA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 317), regex(pattern = RESOURCE))]
    pub resource: Option<String>,
    /// How many times the network is attached (1 to 64). Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub count: Option<u32>,
    /// Interface name in the pod; default `railN` by position. `ethN` and `netN` are refused: Multus gives
    /// those by position. With `count` above 1 the name must end in a digit and counts up from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 15), regex(pattern = INTERFACE))]
    pub interface: Option<String>,
}

/// A named part of the rails, such as the four of one CPU socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subset {
    /// Name, as pods give it.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Interfaces of the rails it has, such as `rail0`.
    #[schemars(length(min = 1, max = 64), inner(length(max = 15), regex(pattern = INTERFACE)))]
    pub interfaces: Vec<String>,
}

/// A resource whose quantity does not follow the rails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resource {
    /// Extended resource, `domain/name`.
    #[schemars(length(max = 317), regex(pattern = RESOURCE))]
    pub name: String,
    /// Units per `per` (count, 1 to 1024).
    #[schemars(range(min = 1, max = 1024))]
    pub quantity: u32,
    /// What the quantity is counted by: `container` (each that asks for accelerators, the default), `rail` (each rail
    /// of the container) or `accelerator` (each accelerator of the container).
    #[serde(default)]
    pub per: Per,
}

/// What a resource quantity is counted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Per {
    /// Each container that asks for accelerators: a shared HCA is a slot, whatever the number of rails.
    #[default]
    Container,
    /// Each rail that the container uses.
    Rail,
    /// Each accelerator of the container: EFA on some instances has several a GPU.
    Accelerator,
}

// The comments of the enums list the values: the CRD has one text for all values of an enum, and this is it.
/// What NCCL runs on: `roce` (RDMA over Ethernet, v2), `infiniband`, `ethernet` (TCP sockets), `efa` (AWS Elastic
/// Fabric Adapter), `tcpx` or `tcpxo` (GKE GPUDirect).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// RDMA over Ethernet, v2.
    Roce,
    /// InfiniBand verbs.
    Infiniband,
    /// TCP sockets.
    Ethernet,
    /// AWS Elastic Fabric Adapter.
    Efa,
    /// GKE GPUDirect-TCPX.
    Tcpx,
    /// GKE GPUDirect-TCPXO.
    Tcpxo,
}

impl Transport {
    /// Whether NCCL's own IB transport carries the traffic, so that `NCCL_IB_*` means something.
    #[must_use]
    pub fn is_verbs(self) -> bool {
        matches!(self, Self::Roce | Self::Infiniband)
    }
}

/// How the NIC reaches the pod: `sriov` (a virtual function on Ethernet), `ib-sriov` (one on InfiniBand), `host-device`
/// (a whole function), `macvlan` or `ipoib` (a child beside a shared HCA), `host-network` (the host's network
/// namespace) or `none` (no attachment of ours).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Attachment {
    /// A virtual function on Ethernet, CNI `sriov`.
    Sriov,
    /// A virtual function on InfiniBand, CNI `ib-sriov`.
    IbSriov,
    /// A whole physical or virtual function, CNI `host-device`.
    HostDevice,
    /// A macvlan child beside a shared HCA.
    Macvlan,
    /// An IPoIB child beside a shared HCA.
    Ipoib,
    /// The host's network namespace.
    HostNetwork,
    /// No attachment of ours.
    None,
}

/// How much of a profile may be written into a pod: `full` (everything, the default), `networks` (the rails, and the
/// resources and node selectors of every network that the pod names, as network-resources-injector gives them; no variables,
/// shared memory or capabilities), `annotations` (the provider's own webhook does the rest) or `review` (nothing, rules
/// only).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Inject {
    /// Everything the profile says.
    #[default]
    Full,
    /// The rails, and what every network that the pod names needs: its resource and its node selector.
    Networks,
    /// Annotations only; the provider's own webhook does the rest.
    Annotations,
    /// Nothing: rules only.
    Review,
}

/// What becomes of a pod that the mutating webhook missed, because no server answered: `deny` (default: better no pod
/// than training over TCP without a word) or `warn`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnMissing {
    /// It is refused: better no pod than training over TCP without a word.
    #[default]
    Deny,
    /// It is admitted with a warning.
    Warn,
}

/// When a profile applies to a pod that did not name it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct When {
    /// Least whole accelerators of the pod (count). Default: `acceleratorsPerNode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_accelerators: Option<u32>,
    /// Whether the pod must belong to a job of several nodes. Default `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_node: Option<MultiNode>,
    /// Labels the pod must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_selector: Option<LabelSelector>,
}

/// Whether a pod must belong to a job of several nodes: `any` (default: it does not matter) or `required`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MultiNode {
    /// It does not matter.
    #[default]
    Any,
    /// Evidence is required.
    Required,
}

/// One variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnvVar {
    /// Name, such as `NCCL_IB_HCA`.
    #[schemars(length(max = 256), regex(pattern = VARIABLE))]
    pub name: String,
    /// Value: at most 4096 printable bytes without `$(`, which the kubelet would expand. Absent where the policy is
    /// `forbid`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub value: Option<String>,
    /// What a value of the user's own means: `default` (it stands; ours is set where there is none), `require` (another
    /// value than ours is an error) or `forbid` (the variable is never set, its presence is a finding). No value of the
    /// user's is ever overwritten.
    #[serde(default)]
    pub policy: EnvPolicy,
    /// First version of NCCL that the variable is for, such as `2.21`. Where the version in an image is not known, it is
    /// not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = VERSION))]
    pub nccl_from: Option<String>,
    /// First version of NCCL that the variable is no longer for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = VERSION))]
    pub nccl_before: Option<String>,
    /// Why the variable has this value, in one sentence; shown beside the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
    /// Where the value comes from: a document, source file or measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub source: Option<String>,
}

/// What a value of the user's own means. Nothing is ever overwritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EnvPolicy {
    /// Set when absent; a user's value stands.
    #[default]
    Default,
    /// Set when absent; another value of the user's is an error.
    Require,
    /// Never set; its presence is a finding.
    Forbid,
}

/// Who writes `/etc/nccl.conf`: `inject` (default: it carries NCCL's variables to ranks that the container's `env` does
/// not reach; a pod that mounts a file there keeps its own) or `image` (images of this fabric have one that must stay).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NcclConf {
    /// The webhook, where `env` does not reach.
    #[default]
    Inject,
    /// The images of this fabric have one that must stay.
    Image,
}

/// A small file. It travels as an annotation of the pod, so it must hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SmallFile {
    /// Name in `/etc/fabric-admission`, such as `topology.xml`; not `nccl.conf`, whose lines come from `env`.
    #[schemars(length(max = 58), regex(pattern = FILE))]
    pub name: String,
    /// Its text, at most 64 KiB.
    #[schemars(length(min = 1, max = 65536))]
    pub content: String,
}

/// Size of `/dev/shm`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedMemory {
    /// Bytes for each whole accelerator, as a Kubernetes quantity of at least 64Mi, such as `8Gi`.
    #[schemars(length(max = 32))]
    pub per_accelerator: String,
}

/// A Kubernetes label selector: every entry must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels that must have exactly these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub match_labels: BTreeMap<String, String>,
    /// Expressions that must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub match_expressions: Vec<Requirement>,
}

/// One expression of a label selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Requirement {
    /// Label key.
    #[schemars(length(min = 1, max = 317))]
    pub key: String,
    /// Relation of the label to `values`: `In`, `NotIn`, `Exists` or `DoesNotExist`. A missing label satisfies `NotIn`.
    pub operator: Operator,
    /// Values; empty for `Exists` and `DoesNotExist`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 63)))]
    pub values: Vec<String>,
}

/// Operators of a label selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Operator {
    /// The value is one of `values`.
    In,
    /// The label is absent or its value is none of `values`.
    NotIn,
    /// The label is present.
    Exists,
    /// The label is absent.
    DoesNotExist,
}

/// The definition of the custom resource as the derive makes it; [`super::definition`] completes it.
pub(super) fn derived() -> impl Serialize {
    <Served as kube::CustomResourceExt>::crd()
}

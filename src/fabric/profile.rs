//! The schema of a `FabricProfile`: what one fabric asks of a pod.
//!
//! One type serves the files, the JSON schema and, later, the CRD. Unknown fields are refused: a misspelt
//! key that is dropped silently costs a training run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `apiVersion` of a FabricProfile.
pub const API_VERSION: &str = "fabric-admission.dev/v1alpha1";
/// `kind` of a FabricProfile.
pub const KIND: &str = "FabricProfile";

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
    pub metadata: Metadata,
    /// What the fabric asks.
    pub spec: Spec,
    /// Written by the controller; accepted so that an exported object loads, and ignored.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub status: Option<serde_json::Value>,
}

/// The part of `metadata` that a profile file carries. Everything but the name belongs to the API server
/// and is kept out of the decision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    /// Name of the profile, as pods and namespaces give it.
    pub name: String,
}

/// Settings of one fabric. Fields that are absent are inherited from `base`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// A compiled-in profile whose values fill the fields that are absent here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Nodes that carry this fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<LabelSelector>,
    /// Values of `node.kubernetes.io/instance-type` that carry this fabric; used while a pool is at zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_types: Option<Vec<String>>,
    /// Decides among profiles of the same nodes; the larger wins. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Namespaces that may use the profile, by their labels. Absent: every namespace that opted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<LabelSelector>,
    /// When the profile is applied to a pod that did not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// How much may be injected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Inject>,
    /// What NCCL runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// How the NIC reaches the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<Attachment>,
    /// Whole accelerators of one node (count, 1 to 64); base for scaling rails and for `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub accelerators_per_node: Option<u32>,
    /// The NIC paths of a pod that uses a whole node, in rail order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rails: Option<Vec<Rail>>,
    /// Named parts of the rails, for pods that ask for one with annotation `fabric-admission.dev/rails`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsets: Option<Vec<Subset>>,
    /// Resources that do not follow the rails one to one, such as a shared HCA, which is asked once. A profile
    /// with rails of its own does not inherit the base's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<Resource>>,
    /// Whether containers get `IPC_LOCK`, which lets root pin memory beyond the memlock limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipc_lock: Option<bool>,
    /// Variables of NCCL and its companions. They merge with the base's by name, so that setting one does not
    /// lose the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Vec<EnvVar>>,
    /// Size of `/dev/shm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemory>,
    /// What becomes of a pod that reaches storage without anything of the profile. Default `deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_missing: Option<OnMissing>,
    /// Where the pods go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Interface of NCCL's bootstrap and out-of-band traffic: `eth0` or the interface of a rail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<String>,
}

/// One NIC path of a pod: a network attachment and the device that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rail {
    /// NetworkAttachmentDefinition, `namespace/name`; without a namespace it is the pod's own.
    pub network: String,
    /// Extended resource that hands out the device, one unit an attachment. Absent where the network needs
    /// none of its own (macvlan or IPoIB over a shared HCA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// How many times the network is attached (1 to 64). Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub count: Option<u32>,
    /// Interface name in the pod; default `railN` by position. `ethN` and `netN` are refused: Multus gives
    /// those by position. With `count` above 1 the name must end in a digit and counts up from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
}

/// A named part of the rails, such as the four of one CPU socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subset {
    /// Name, as pods give it.
    pub name: String,
    /// Interfaces of the rails it has, such as `rail0`.
    pub interfaces: Vec<String>,
}

/// Where the pods of a profile go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Placement {
    /// Whether pods are kept to the nodes of `nodeSelector`. Default `none`.
    #[serde(default)]
    pub node_affinity: NodeAffinity,
}

/// Whether pods are kept to the nodes of their profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeAffinity {
    /// Nothing is added.
    #[default]
    None,
    /// `nodeSelector` is added as required node affinity, beside what the pod asks itself.
    Required,
}

/// A resource whose quantity does not follow the rails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resource {
    /// Extended resource, `domain/name`.
    pub name: String,
    /// Units per `per` (count, 1 to 1024).
    #[schemars(range(min = 1, max = 1024))]
    pub quantity: u32,
    /// What the quantity is counted by.
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

/// What NCCL runs on.
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

/// How the NIC reaches the pod.
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

/// How much of a profile may be written into a pod.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Inject {
    /// Everything the profile says.
    #[default]
    Full,
    /// Annotations only; the provider's own webhook does the rest.
    Annotations,
    /// Nothing: rules only.
    Review,
}

/// What becomes of a pod that the mutating webhook missed.
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
    /// Whether the pod must be known to be one of several nodes' worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_node: Option<MultiNode>,
    /// Labels the pod must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_selector: Option<LabelSelector>,
}

/// Whether a pod must belong to a job of several nodes.
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
    pub name: String,
    /// Value. Absent only where the policy is `forbid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What a value of the user's own means.
    #[serde(default)]
    pub policy: EnvPolicy,
    /// Why the variable has this value, in one sentence; shown beside the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the value comes from: a document, source file or measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Size of `/dev/shm`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedMemory {
    /// Quantity for each whole accelerator, such as `8Gi`.
    pub per_accelerator: String,
}

/// A Kubernetes label selector: every entry must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels that must have exactly these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Expressions that must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<Requirement>,
}

/// One expression of a label selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Requirement {
    /// Label key.
    pub key: String,
    /// Relation of the label to `values`.
    pub operator: Operator,
    /// Values; empty for `Exists` and `DoesNotExist`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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

impl LabelSelector {
    /// Whether a set of labels satisfies every entry. An empty selector matches everything.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(k, v)| labels.get(k) == Some(v))
            && self.match_expressions.iter().all(|e| {
                let value = labels.get(&e.key);
                match e.operator {
                    Operator::In => value.is_some_and(|v| e.values.contains(v)),
                    // Absence satisfies NotIn, as in k8s.io/apimachinery pkg/labels.
                    Operator::NotIn => value.is_none_or(|v| !e.values.contains(v)),
                    Operator::Exists => value.is_some(),
                    Operator::DoesNotExist => value.is_none(),
                }
            })
    }
}

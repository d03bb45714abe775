//! The schema of a `FabricProfile`: the settings of one fabric for pods.
//!
//! One type, [`Spec`], serves the files, the JSON schema and the CRD (docs/adr/0008-one-profile-type.md). Unknown
//! fields are refused: a misspelt key that is dropped silently costs a training run. The comments of the fields are
//! what `kubectl explain` prints, so they speak to an operator.

use super::gke_networks::{GkeNetworks, INTERFACE_PATTERN};
use super::ignorable_setting::Ignorable;
pub use super::label_selector::{LabelSelector, Operator, SelectorExpression};
use super::memlock_setting::Memlock;
use super::metadata_of_profile_file::Metadata;
use super::monitor_settings::Monitor;
use super::placement_setting::Placement;
use super::preflight_settings::Preflight;
use super::status_schema::FabricProfileStatus;
use super::unknown_claims_setting::UnknownClaims;
pub use crate::nccl::Transport;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

/// `apiVersion` of a FabricProfile.
pub const API_VERSION: &str = "fabric-admission.dev/v1alpha1";
/// `kind` of a FabricProfile.
pub const KIND: &str = "FabricProfile";

/// `namespace/name` or `name`, without a dot in the name.
const NETWORK_PATTERN: &str = "^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// `domain/name` of an extended resource.
const RESOURCE_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/\
                        [A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
/// Names of small files.
const FILE_NAME_PATTERN: &str = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
/// Versions of NCCL.
const NCCL_VERSION_PATTERN: &str = "^2\\.[0-9]{1,3}(\\.[0-9]{1,3})?$";
/// Names of variables.
const VARIABLE_NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// A cluster-scoped object (or YAML file) with the rails, resources and settings that a pod needs on one
/// fabric, and the namespaces that may use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FabricProfile {
    /// Always `fabric-admission.dev/v1alpha1`.
    pub api_version: String,
    /// Always `FabricProfile`.
    pub kind: String,
    /// Name of the profile, and data that the API server adds.
    #[serde(deserialize_with = "super::metadata_of_profile_file::read_metadata_strictly")]
    pub metadata: Metadata,
    /// Settings of the fabric.
    pub spec: Spec,
    /// Written by the server; accepted, so that an exported object loads, and ignored.
    #[serde(default, skip_serializing, deserialize_with = "pass_over")]
    #[schemars(skip)]
    pub status: (),
}

fn pass_over<'de, D: Deserializer<'de>>(d: D) -> Result<(), D::Error> {
    IgnoredAny::deserialize(d).map(drop)
}

// The derive makes `Served`, the object as the API server serves it, from which the CRD is generated. It takes any key
// beside `spec`, as Kubernetes' own types do; files are read as the stricter `FabricProfile`.
/// Settings of one fabric. An absent field has the value of the profile in `base`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, kube::CustomResource)]
#[kube(
    group = "fabric-admission.dev",
    version = "v1alpha1",
    kind = "FabricProfile",
    root = "Served",
    doc = "Settings of one fabric for pods: rails, resources, variables, and the namespaces that may use it.",
    shortname = "fprof",
    status = "FabricProfileStatus",
    // What a base can provide is printed from the status: a column reads one field of one object and inherits nothing.
    printcolumn = r#"{"name":"Base","type":"string","jsonPath":".spec.base"}"#,
    printcolumn = r#"{"name":"Transport","type":"string","jsonPath":".status.transport"}"#,
    printcolumn = r#"{"name":"Attachment","type":"string","jsonPath":".status.attachment","priority":1}"#,
    printcolumn = r#"{"name":"Priority","type":"integer","jsonPath":".status.priority"}"#,
    printcolumn = r#"{"name":"Nodes","type":"integer","jsonPath":".status.matchingNodes"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// Name of a compiled-in profile, such as `roce-sriov`. Fields that your profile does not set have the values of
    /// the compiled-in profile. Without a base, `transport` and `attachment` are required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub base: Option<String>,
    /// Description of the profile, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Label selector for the nodes of this fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<LabelSelector>,
    /// Instance types (label `node.kubernetes.io/instance-type`) of the nodes of this fabric. Without `nodeSelector`,
    /// the instance types select the nodes. The instance types also describe node pools that are scaled to zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 63)))]
    pub instance_types: Option<Vec<String>>,
    /// Priority among profiles that select the same nodes; the highest number wins. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Label selector for the namespaces that may use the profile. Default: every namespace that opted in to the
    /// webhook may use the profile, and a note in the profile's status reports this. With `{}`, the effect is the same,
    /// but the status has no note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<LabelSelector>,
    /// Conditions that a pod must meet to get this profile. The conditions do not apply to a pod that names the
    /// profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// Which changes the webhook makes to pods. Default: `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Inject>,
    /// Transport that NCCL uses on this fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// How NICs are attached to the pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<Attachment>,
    /// Number of whole accelerators in one node (1 to 64, default 8). If all rails have the same network and the same
    /// resource, a pod that uses a part of a node gets a proportional share of the rails. `acceleratorsPerNode` is also
    /// the default of `when.minAccelerators`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub accelerators_per_node: Option<u32>,
    /// Rails of a pod that uses a whole node, in order (at most 64 attachments in total). The rails of a profile
    /// replace the `rails`, `resources` and `subsets` of its base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub rails: Option<Vec<Rail>>,
    /// Named subsets of the rails. A pod can select one subset with the annotation `fabric-admission.dev/rails`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub subsets: Option<Vec<Subset>>,
    /// Networks that GKE attaches by its own annotations, without Multus. A profile cannot have both `gkeNetworks` and
    /// `rails`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gke_networks: Option<GkeNetworks>,
    /// Extended resources that do not belong to a rail. For a shared HCA, for example, each container needs only one
    /// unit. A profile with its own rails does not inherit the resources of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub resources: Option<Vec<Resource>>,
    /// Whether containers get the capability `IPC_LOCK`, which lets root pin memory beyond the memlock limit. `ipcLock:
    /// true` means the same as `memlock: ipcLock`. Default: true for transports `roce` and `infiniband`, otherwise
    /// false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipc_lock: Option<bool>,
    /// How a pod can pin memory beyond the container runtime's memlock limit. A profile cannot have both `memlock` and
    /// `ipcLock`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memlock: Option<Memlock>,
    /// Environment variables of NCCL and its companion libraries. A variable in this list replaces the variable of the
    /// same name in the base. The profile inherits all other variables of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub env: Option<Vec<EnvVar>>,
    /// NCCL version in the images of this fabric, such as `2.27.5`. The webhook uses this version for images whose name
    /// does not contain the NCCL version. Only variables with `ncclFrom` or `ncclBefore` depend on the version. The
    /// policies `require` and `forbid` of a variable always use `ncclVersion`, even if the image's name contains
    /// another version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = NCCL_VERSION_PATTERN))]
    pub nccl_version: Option<String>,
    /// Source of `/etc/nccl.conf`: `inject` (default) or `image`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nccl_conf: Option<NcclConf>,
    /// Small files, such as a topology or the settings of cuFile. Containers that request accelerators get each file at
    /// `/etc/fabric-admission/NAME`. To make a library read a file, set a variable in `env` to the file's path. A
    /// profile has at most 8 files, with 64 KiB each and 192 KiB in total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8))]
    pub files: Option<Vec<SmallFile>>,
    /// Size of `/dev/shm`, the shared memory that NCCL and data loaders use. Default: 8Gi per accelerator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemory>,
    /// Policy for a pod that the mutating webhook did not process. Default: `deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_missing: Option<OnMissing>,
    /// Findings that annotation `fabric-admission.dev/ignore.FABnnn` may ignore: `warnings` (default; warnings
    /// and info findings) or `errors` (errors too).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignorable: Option<Ignorable>,
    /// Whether NCCL may use only its own InfiniBand/RoCE transport. `true` sets `NCCL_NET=IB`: if RDMA does not work,
    /// NCCL fails at start-up instead of running over TCP. With `true`, NCCL also fails in an image with a network
    /// plugin such as HPC-X with SHARP, because the plugin's transport has another name. Default: the value of the base
    /// (true in the RoCE bases), otherwise false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin_transport: Option<bool>,
    /// Policy for a DRA claim on devices of an unknown driver: `block` (default) or `ignore`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_claims: Option<UnknownClaims>,
    /// Whether the profile's pods are restricted to the profile's nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Interface of NCCL's bootstrap and out-of-band traffic: `eth0` or the interface of a rail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 15), regex(pattern = INTERFACE_PATTERN))]
    pub bootstrap: Option<String>,
    /// Check of the fabric in each pod before the training starts. Default: no check. Needs `inject: full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflight: Option<Preflight>,
    /// Metrics of the fabric from each pod while the training runs. Default: no metrics. Needs `inject: full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitor>,
}

/// One NIC path of a pod: a network attachment and the device that it uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rail {
    /// NetworkAttachmentDefinition, as `namespace/name`. Without a namespace, the NetworkAttachmentDefinition is in the
    /// pod's namespace.
    #[schemars(length(max = 317), regex(pattern = NETWORK_PATTERN))]
    pub network: String,
    /// Extended resource of the device; each attachment takes one unit. Leave this field out if the network needs no
    /// resource (macvlan or IPoIB over a shared HCA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 317), regex(pattern = RESOURCE_PATTERN))]
    pub resource: Option<String>,
    /// Number of attachments of the network (1 to 64). Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub count: Option<u32>,
    /// Name of the interface in the pod. Default: `railN`, where N is the position of the attachment. `ethN` and `netN`
    /// are refused, because Multus assigns these names by position. If `count` is above 1, the name must end in a
    /// digit. The number at the end of the name rises by 1 with each attachment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 15), regex(pattern = INTERFACE_PATTERN))]
    pub interface: Option<String>,
}

/// A named subset of the rails, such as the four rails of one CPU socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subset {
    /// Name of the subset, for annotation `fabric-admission.dev/rails`.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Interfaces of the rails in this subset, such as `rail0`.
    #[schemars(length(min = 1, max = 64), inner(length(max = 15), regex(pattern = INTERFACE_PATTERN)))]
    pub interfaces: Vec<String>,
}

/// An extended resource that does not belong to a rail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resource {
    /// Name of the extended resource, as `domain/name`.
    #[schemars(length(max = 317), regex(pattern = RESOURCE_PATTERN))]
    pub name: String,
    /// Number of units of the resource (1 to 1024). The field `per` selects whether a container gets these units once,
    /// once per rail, or once per accelerator.
    #[schemars(range(min = 1, max = 1024))]
    pub quantity: u32,
    /// How often a container that requests accelerators gets `quantity` units: once (`container`, the default), once
    /// for each rail (`rail`), or once for each accelerator (`accelerator`).
    #[serde(default)]
    pub per: Per,
}

/// How often a container gets the quantity of a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Per {
    /// Once for a container that requests accelerators. For example, one unit of a shared HCA is enough for all rails.
    #[default]
    Container,
    /// Once for each rail that the container uses.
    Rail,
    /// Once for each accelerator of the container. For example, some instances have several EFA devices per GPU.
    Accelerator,
}

// The comments of the enums list the values: the CRD has one text for all values of an enum, and this is it.
/// Attachment of the NIC to the pod: `sriov` (a virtual function on Ethernet), `ib-sriov` (a virtual function on
/// InfiniBand),
/// `host-device` (a whole function), `macvlan` or `ipoib` (a child interface of a shared HCA), `host-network` (the
/// host's network namespace) or `none` (the webhook attaches nothing).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Attachment {
    /// A virtual function on Ethernet, CNI `sriov`.
    Sriov,
    /// A virtual function on InfiniBand, CNI `ib-sriov`.
    IbSriov,
    /// A whole physical or virtual function, CNI `host-device`.
    HostDevice,
    /// A macvlan child interface of a shared HCA.
    Macvlan,
    /// An IPoIB child interface of a shared HCA.
    Ipoib,
    /// The host's network namespace.
    HostNetwork,
    /// The webhook attaches nothing.
    None,
}

/// Which changes the webhook makes to a pod. `full` (default): all settings of the profile. `networks`: only the rails,
/// plus the resources and node selectors that the pod's own networks need, as with network-resources-injector. With
/// `networks`, the pod gets no variables, shared memory or capabilities. `annotations`: only annotations, because the
/// cloud provider's own webhook makes the other changes. `review`: no changes, only findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Inject {
    /// All settings of the profile.
    #[default]
    Full,
    /// The rails, and the resource and node selector of every network that the pod names.
    Networks,
    /// Only annotations; the cloud provider's own webhook makes the other changes.
    Annotations,
    /// No changes, only findings.
    Review,
}

/// Policy for a pod that the mutating webhook did not process because no server answered: `deny` (default) or `warn`.
/// With `warn`, the pod may silently train over TCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnMissing {
    /// The pod is denied: otherwise it could silently train over TCP.
    #[default]
    Deny,
    /// The pod is admitted with a warning.
    Warn,
}

/// Conditions that a pod must meet to get the profile, unless the pod names the profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct When {
    /// Minimum number of whole accelerators in the pod. Default: `acceleratorsPerNode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_accelerators: Option<u32>,
    /// Whether the pod must belong to a job of several nodes. Default: `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_node: Option<MultiNode>,
    /// Labels that the pod must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_selector: Option<LabelSelector>,
}

/// Whether a pod must belong to a job of several nodes: `any` (default; single-node pods also match) or `required`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MultiNode {
    /// Single-node pods also match.
    #[default]
    Any,
    /// The pod must belong to a job of several nodes.
    Required,
}

/// One environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnvVar {
    /// Name of the variable, such as `NCCL_IB_HCA`.
    #[schemars(length(max = 256), regex(pattern = VARIABLE_NAME_PATTERN))]
    pub name: String,
    /// Value of the variable, at most 4096 printable bytes. The value must not contain `$(`, because the kubelet would
    /// expand it. With policy `forbid`, no value is allowed. With all other policies, a value is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub value: Option<String>,
    /// Policy for a value that the pod sets itself: `default` (the pod's value is kept), `require` (an error if the
    /// pod's value differs from the profile's value) or `forbid` (the profile does not set the variable, and a pod that
    /// sets it gets an error). The webhook never overwrites a pod's value. `require` and `forbid` also apply to pods
    /// that choose another profile but can run on the nodes of this profile.
    #[serde(default)]
    pub policy: EnvPolicy,
    /// First NCCL version that gets the variable, such as `2.21`. If the NCCL version in the image is unknown, the
    /// webhook does not set the variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = NCCL_VERSION_PATTERN))]
    pub nccl_from: Option<String>,
    /// First NCCL version that no longer gets the variable, such as `2.24`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = NCCL_VERSION_PATTERN))]
    pub nccl_before: Option<String>,
    /// Reason for this value, in one sentence. Reviews show the reason with the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
    /// Source of the value: a document, source file or measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub source: Option<String>,
}

/// Policy for a value that the pod sets itself. The webhook never overwrites a pod's value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EnvPolicy {
    /// The webhook sets the variable if the pod does not set it. A value in the pod is kept.
    #[default]
    Default,
    /// The webhook sets the variable if the pod does not set it. Another value in the pod is an error.
    Require,
    /// The webhook does not set the variable. A pod that sets it gets an error.
    Forbid,
}

/// Source of `/etc/nccl.conf`: `inject` (default) or `image` (the images of this fabric have the file, and the webhook
/// does not change it). With `inject`, the webhook writes NCCL's variables to the file, for ranks that do not inherit
/// the container's `env`. If a container mounts its own file at `/etc/nccl.conf`, the webhook keeps this file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NcclConf {
    /// The webhook writes the file, for ranks that do not inherit the container's `env`.
    #[default]
    Inject,
    /// The file in the images of this fabric is kept.
    Image,
}

/// A small file. The webhook writes the file's content to an annotation of the pod, so the file must not contain a
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SmallFile {
    /// Name of the file in `/etc/fabric-admission`, such as `topology.xml`. The name `nccl.conf` is refused, because
    /// the webhook writes that file from the variables of `env`.
    #[schemars(length(max = 58), regex(pattern = FILE_NAME_PATTERN))]
    pub name: String,
    /// Content of the file, at most 64 KiB.
    #[schemars(length(min = 1, max = 65536))]
    pub content: String,
}

/// Size of `/dev/shm`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedMemory {
    /// Size per whole accelerator: a Kubernetes quantity of at least 64Mi, such as `8Gi`.
    #[schemars(length(max = 32))]
    pub per_accelerator: String,
}

/// The definition of the custom resource as the derive makes it; `custom_resource_definition` completes it.
pub(super) fn derived_crd() -> impl Serialize {
    <Served as kube::CustomResourceExt>::crd()
}

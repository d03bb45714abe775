//! The read model of a pod: only the fields that decide something, borrowed from the body. It is never
//! written back; patches are made from intents on the raw object, so fields newer than this model survive.

use super::affinity_and_tolerations::{Affinity, Toleration};
use super::cached_answers_about_pod::{CachedAnswersAboutContainer, PlaceOfPreflightContainer};
pub use super::claims_in_pod_spec::{ContainerClaim, PodClaim};
pub use super::env_variables::EnvVar;
use super::place_index::PlaceIndex;
pub use super::presence::Presence;
pub use super::raw_text_source::TextOfPod;
use super::variable_sources::{ConfigMapVolume, EnvFrom, FieldRef};
use crate::json::quantity::Quantity;
use crate::json::types_of_decoded_fields::{
    AbsentNullOrValue, List, Objects, Pairs, Quantities, QuantityText, Text, optional_struct,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// A pod or a pod template: an object with `metadata` and `spec`.
#[derive(Debug, Default, Deserialize)]
pub struct PodView<'a> {
    /// Absent in many templates.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub metadata: Option<Metadata<'a>>,
    /// Absent only in objects the API refuses.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub spec: Option<Spec<'a>>,
    /// The text that it was read from, for copies of whole fields.
    #[serde(skip)]
    pub source: TextOfPod<'a>,
}

/// `metadata`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata<'a> {
    /// Name; empty at admission of pods that have only a `generateName`.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// Prefix of a name that the API server will generate.
    #[serde(borrow, default)]
    pub generate_name: Option<Text<'a>>,
    /// Namespace.
    #[serde(borrow, default)]
    pub namespace: Option<Text<'a>>,
    /// Labels.
    #[serde(borrow, default)]
    pub labels: Option<Pairs<'a, Text<'a>>>,
    /// Annotations.
    #[serde(borrow, default)]
    pub annotations: Option<Pairs<'a, Text<'a>>>,
    /// Owners, undecoded: only the log and the audit annotations name the controller.
    #[serde(borrow, default)]
    pub owner_references: Option<&'a RawValue>,
    /// Annotations by key, built on first use.
    #[serde(skip)]
    pub(super) by_key: PlaceIndex,
    /// Labels by key, built on first use.
    #[serde(skip)]
    pub(super) by_label: PlaceIndex,
}

/// `spec`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec<'a> {
    /// App containers.
    #[serde(borrow, default)]
    pub containers: Option<Objects<Container<'a>>>,
    /// Init containers, native sidecars among them.
    #[serde(borrow, default)]
    pub init_containers: Option<Objects<Container<'a>>>,
    /// Volumes.
    #[serde(borrow, default)]
    pub volumes: Option<Objects<Volume<'a>>>,
    /// Volumes by name, built on first use.
    #[serde(skip)]
    pub(super) by_name: PlaceIndex,
    /// Our preflight container among the init containers, found on first use.
    #[serde(skip)]
    pub(super) preflight_at: OnceCell<Option<PlaceOfPreflightContainer>>,
    /// Containers of both lists by name, built on first use.
    #[serde(skip)]
    pub(super) by_container: PlaceIndex,
    /// Entries of the node selector by label, built on first use.
    #[serde(skip)]
    pub(super) by_node_label: PlaceIndex,
    /// Shares the node's network namespace; CNI plugins are then never called.
    #[serde(default)]
    pub host_network: Option<bool>,
    /// Host name; the pod's own name if absent.
    #[serde(borrow, default)]
    pub hostname: Option<Text<'a>>,
    /// Shares the node's IPC namespace, and with it the node's `/dev/shm`.
    #[serde(default, rename = "hostIPC")]
    pub host_ipc: Option<bool>,
    /// `false` gives the pod its own user namespace.
    #[serde(default)]
    pub host_users: Option<bool>,
    /// Pod-level security context.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub security_context: Option<SecurityContext<'a>>,
    /// Where names are looked up.
    #[serde(borrow, default)]
    pub dns_policy: Option<Text<'a>>,
    /// Operating system, if stated.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub os: Option<Os<'a>>,
    /// Claims on devices (DRA).
    #[serde(borrow, default)]
    pub resource_claims: Option<Objects<PodClaim<'a>>>,
    /// Resources of the pod as a whole.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub resources: Option<Resources<'a>>,
    /// Account of its processes; the API server writes it before it calls webhooks.
    #[serde(borrow, default)]
    pub service_account_name: Option<Text<'a>>,
    /// Node that the pod is already bound to, without the scheduler.
    #[serde(borrow, default)]
    pub node_name: Option<Text<'a>>,
    /// Labels that the node must have.
    #[serde(borrow, default)]
    pub node_selector: AbsentNullOrValue<Pairs<'a, Text<'a>>>,
    /// Affinity.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub affinity: Option<Affinity<'a>>,
    /// Taints that the pod tolerates.
    #[serde(borrow, default)]
    pub tolerations: Option<Objects<Toleration<'a>>>,
}

/// `spec.os`.
#[derive(Debug, Default, Deserialize)]
pub struct Os<'a> {
    /// `linux` or `windows`.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
}

/// A container of any kind.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Container<'a> {
    /// False for a `null` in the list: a patch cannot add to an object that does not exist.
    #[serde(skip, default = "yes")]
    pub present: bool,
    /// Name.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// Image.
    #[serde(borrow, default)]
    pub image: Option<Text<'a>>,
    /// Entry point.
    #[serde(borrow, default)]
    pub command: Option<List<Text<'a>>>,
    /// Arguments.
    #[serde(borrow, default)]
    pub args: Option<List<Text<'a>>>,
    /// Variables.
    #[serde(borrow, default, deserialize_with = "super::env_variables::read")]
    pub env: Option<Objects<EnvVar<'a>>>,
    /// Sources of variables whose names are not in the pod.
    #[serde(borrow, default)]
    pub env_from: Option<Objects<EnvFrom<'a>>>,
    /// Ports by name.
    #[serde(default)]
    pub ports: Option<List<Presence>>,
    /// Resources.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub resources: Option<Resources<'a>>,
    /// Security context.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub security_context: Option<SecurityContext<'a>>,
    /// Mounts.
    #[serde(borrow, default)]
    pub volume_mounts: Option<Objects<VolumeMount<'a>>>,
    /// Volumes mapped as raw block devices.
    #[serde(borrow, default)]
    pub volume_devices: Option<Objects<VolumeDevice<'a>>>,
    /// `Always` makes an init container a native sidecar.
    #[serde(borrow, default)]
    pub restart_policy: Option<Text<'a>>,
    /// What follows from its fields, found on first use.
    #[serde(skip)]
    pub read_once: CachedAnswersAboutContainer,
}

fn yes() -> bool {
    true
}

/// `resources`.
#[derive(Debug, Default, Deserialize)]
pub struct Resources<'a> {
    /// Upper bounds; for extended resources the allocated quantity.
    #[serde(borrow, default)]
    pub limits: Option<Quantities<'a>>,
    /// Lower bounds.
    #[serde(borrow, default)]
    pub requests: Option<Quantities<'a>>,
    /// Claims of the pod that this container uses.
    #[serde(borrow, default)]
    pub claims: Option<Objects<ContainerClaim<'a>>>,
}

/// `securityContext` of a pod or a container.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecurityContext<'a> {
    /// All capabilities and every device of the node.
    #[serde(default)]
    pub privileged: Option<bool>,
    /// User id of the process.
    #[serde(default)]
    pub run_as_user: Option<i64>,
    /// The kubelet refuses to start it as root.
    #[serde(default)]
    pub run_as_non_root: Option<bool>,
    /// Capabilities; containers only.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub capabilities: Option<Capabilities<'a>>,
}

/// `securityContext.capabilities`.
#[derive(Debug, Default, Deserialize)]
pub struct Capabilities<'a> {
    /// Added.
    #[serde(borrow, default)]
    pub add: Option<List<Text<'a>>>,
}

/// `volumeMounts[]`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeMount<'a> {
    /// Volume.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// Path in the container.
    #[serde(borrow, default)]
    pub mount_path: Option<Text<'a>>,
    /// Path in the volume; the whole volume if absent.
    #[serde(borrow, default)]
    pub sub_path: Option<Text<'a>>,
    /// The same, with variables of the container.
    #[serde(borrow, default)]
    pub sub_path_expr: Option<Text<'a>>,
    /// Whether the mount is read-only.
    #[serde(default)]
    pub read_only: Option<bool>,
}

/// `volumeDevices[]`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeDevice<'a> {
    /// Path in the container.
    #[serde(borrow, default)]
    pub device_path: Option<Text<'a>>,
}

/// Longest name of a volume (bytes): a DNS label (kubernetes/kubernetes pkg/apis/core/validation, `ValidateVolumes`).
pub(crate) const MAX_VOLUME_NAME_LENGTH: usize = 63;

/// `volumes[]`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Volume<'a> {
    /// Name.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// Scratch space on disk or in memory.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub empty_dir: Option<EmptyDir<'a>>,
    /// A path of the node.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub host_path: Option<HostPath<'a>>,
    /// A ConfigMap as files.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub config_map: Option<ConfigMapVolume<'a>>,
    /// A Secret as files.
    #[serde(default)]
    pub secret: Option<IgnoredAny>,
    /// Several sources as files.
    #[serde(default)]
    pub projected: Option<IgnoredAny>,
    /// Fields of the pod as files.
    #[serde(borrow, default, rename = "downwardAPI", deserialize_with = "optional_struct")]
    pub downward_api: Option<DownwardApi<'a>>,
}

/// `volumes[].hostPath`.
#[derive(Debug, Default, Deserialize)]
pub struct HostPath<'a> {
    /// The path.
    #[serde(borrow, default)]
    pub path: Option<Text<'a>>,
}

/// `volumes[].downwardAPI`.
#[derive(Debug, Default, Deserialize)]
pub struct DownwardApi<'a> {
    /// Files.
    #[serde(borrow, default)]
    pub items: Option<Objects<DownwardApiItem<'a>>>,
    /// Items by the field that they show, built on first use.
    #[serde(skip)]
    pub(super) by_field: PlaceIndex,
    /// The paths at which it shows our `nccl.conf`; found by the plan.
    #[serde(skip)]
    pub(crate) conf_paths: OnceCell<BTreeSet<String>>,
}

/// `volumes[].downwardAPI.items[]`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DownwardApiItem<'a> {
    /// Path in the volume.
    #[serde(borrow, default)]
    pub path: Option<Text<'a>>,
    /// The field that the file shows.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub field_ref: Option<FieldRef<'a>>,
}

/// `volumes[].emptyDir`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmptyDir<'a> {
    /// `Memory` for tmpfs.
    #[serde(borrow, default)]
    pub medium: Option<Text<'a>>,
    /// Size.
    #[serde(borrow, default)]
    pub size_limit: Option<QuantityText<'a>>,
}

impl<'a> PodView<'a> {
    /// App containers, in order.
    #[must_use]
    pub fn containers(&self) -> &[Container<'a>] {
        self.spec.as_ref().and_then(|s| s.containers.as_deref()).unwrap_or_default()
    }
    /// Init containers, in order.
    #[must_use]
    pub fn init_containers(&self) -> &[Container<'a>] {
        self.spec.as_ref().and_then(|s| s.init_containers.as_deref()).unwrap_or_default()
    }
    /// Volumes, in order.
    #[must_use]
    pub fn volumes(&self) -> &[Volume<'a>] {
        self.spec.as_ref().and_then(|s| s.volumes.as_deref()).unwrap_or_default()
    }
    /// Whether the pod shares the node's network namespace.
    #[must_use]
    pub fn host_network(&self) -> bool {
        self.spec.as_ref().and_then(|s| s.host_network).unwrap_or(false)
    }
    /// Whether the pod shares the node's IPC namespace.
    #[must_use]
    pub fn host_ipc(&self) -> bool {
        self.spec.as_ref().and_then(|s| s.host_ipc).unwrap_or(false)
    }
    /// Whether the pod has its own user namespace.
    #[must_use]
    pub fn has_own_user_namespace(&self) -> bool {
        self.spec.as_ref().and_then(|s| s.host_users) == Some(false)
    }
    /// Node that the pod is bound to; an empty name counts as none.
    #[must_use]
    pub fn node_name(&self) -> Option<&str> {
        self.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty())
    }
    /// Affinity.
    #[must_use]
    pub fn affinity(&self) -> Option<&Affinity<'a>> {
        self.spec.as_ref()?.affinity.as_ref()
    }
    /// Tolerations, in order.
    #[must_use]
    pub fn tolerations(&self) -> &[Toleration<'a>] {
        self.spec.as_ref().and_then(|s| s.tolerations.as_deref()).unwrap_or_default()
    }
    /// Pod-level security context.
    #[must_use]
    pub fn security_context(&self) -> Option<&SecurityContext<'a>> {
        self.spec.as_ref()?.security_context.as_ref()
    }
}

impl<'a> Container<'a> {
    /// Name, or the empty string.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
    /// Variables, in order.
    #[must_use]
    pub fn env(&self) -> &[EnvVar<'a>] {
        self.env.as_deref().unwrap_or_default()
    }
    /// Mounts, in order.
    #[must_use]
    pub fn volume_mounts(&self) -> &[VolumeMount<'a>] {
        self.volume_mounts.as_deref().unwrap_or_default()
    }
    /// Limits.
    #[must_use]
    pub fn limits(&self) -> Option<&Quantities<'a>> {
        self.resources.as_ref()?.limits.as_ref()
    }
    /// Requests.
    #[must_use]
    pub fn requests(&self) -> Option<&Quantities<'a>> {
        self.resources.as_ref()?.requests.as_ref()
    }
    /// Units of an extended resource that the container gets: its limit, else its request; the API requires them to
    /// be equal. A text that is not a quantity counts as none.
    #[must_use]
    pub fn units_of_resource(&self, resource: &str) -> Option<i64> {
        let text = self
            .limits()
            .and_then(|l| l.get(resource))
            .or_else(|| self.requests().and_then(|r| r.get(resource)))?;
        Quantity::parse(&text.0).ok().map(|q| q.units_rounded_up().max(0))
    }
    /// Every resource name the container mentions, limits first, each once.
    pub fn resource_names(&self) -> impl Iterator<Item = &str> {
        let limits = self.limits();
        limits.into_iter().flat_map(Quantities::iter).map(|(k, _)| k).chain(
            self.requests()
                .into_iter()
                .flat_map(Quantities::iter)
                .map(|(k, _)| k)
                .filter(move |k| limits.is_none_or(|l| l.get(k).is_none())),
        )
    }
    /// Whether it keeps running beside the app containers (a native sidecar, Kubernetes 1.33).
    #[must_use]
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }
    /// Whether it runs privileged.
    #[must_use]
    pub fn privileged(&self) -> bool {
        self.security_context.as_ref().and_then(|s| s.privileged).unwrap_or(false)
    }
    /// Whether a capability is added, by its name or with `ALL`.
    #[must_use]
    pub fn adds_capability(&self, capability: &str) -> bool {
        let added = self.security_context.as_ref().and_then(|s| s.capabilities.as_ref()?.add.as_deref());
        added.unwrap_or_default().iter().any(|c| {
            // Runtimes drop an optional CAP_ prefix; "ALL" means every capability.
            let name = c.strip_prefix("CAP_").unwrap_or(c);
            name.eq_ignore_ascii_case(capability) || name.eq_ignore_ascii_case("ALL")
        })
    }
    /// Command and arguments, in order.
    pub fn command_and_argument_words(&self) -> impl Iterator<Item = &str> {
        let list = |l: &'_ Option<List<Text<'a>>>| l.as_ref().map_or(0, |l| l.len());
        let (n, m) = (list(&self.command), list(&self.args));
        (0..n + m).filter_map(move |i| {
            let part = if i < n { self.command.as_ref()?.get(i) } else { self.args.as_ref()?.get(i - n) };
            part.map(|t| &**t)
        })
    }
}

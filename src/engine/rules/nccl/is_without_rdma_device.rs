//! Whether a container gets no RDMA device at all.

use crate::multus::NETWORKS_ANNOTATION;
use crate::profile::Profile;
use crate::profile::schema::Transport;
use crate::resolve::Resolution;
use crate::rules::pod_context::PodContext;
use crate::rules::variables_of_pod::ContainerVariables;
use std::cell::OnceCell;

/// Variables by which a container runtime brings devices: NVIDIA's toolkit (`NVIDIA_MOFED=enabled`, with GDS in its wake;
/// NVIDIA/nvidia-container-toolkit internal/modifier/gated.go) and Mellanox' own runtime.
const RUNTIME: [&str; 3] = ["NVIDIA_MOFED", "NVIDIA_GDS", "MELLANOX_VISIBLE_DEVICES"];

/// Ways by which containers of a pod may get an RDMA device.
pub(super) struct WaysToRdmaDevice<'c, 'a> {
    context: &'c PodContext<'a>,
    /// Whether annotations may bring one: the same for all containers.
    annotated: OnceCell<bool>,
    /// Whether a volume has devices of the node: also the same for all.
    of_node: OnceCell<bool>,
}

impl<'c, 'a> WaysToRdmaDevice<'c, 'a> {
    pub(super) fn of(context: &'c PodContext<'a>) -> Self {
        Self { context, annotated: OnceCell::new(), of_node: OnceCell::new() }
    }

    /// Whether nothing is seen that could bring an RDMA device to a container. Some clouds hand devices to every container
    /// that asks for accelerators; their manifests add `IPC_LOCK` all the same.
    pub(super) fn is_without_rdma_device(&self, variables: &ContainerVariables<'_>) -> bool {
        gets_no_device_by_itself(self.context, variables)
            && !*self.of_node.get_or_init(|| has_volume_of_node(self.context))
            && !*self.annotated.get_or_init(|| may_annotation_bring_device(self.context))
    }
}

fn gets_no_device_by_itself(context: &PodContext<'_>, variables: &ContainerVariables<'_>) -> bool {
    let pod = context.pod();
    // A profile on verbs adds a device, or another rule reports why it does not; of several, none is chosen yet.
    let ethernet = |profile: &Profile| profile.transport == Transport::Ethernet;
    let no_fabric = match context.resolution {
        Resolution::NotApplicable { .. } | Resolution::Outside { .. } => true,
        Resolution::Profile { profile, .. } => ethernet(profile),
        Resolution::Ambiguous { .. } | Resolution::Refused { .. } => false,
    };
    no_fabric
        && context.subject.demands.of_app_container(variables.index).nccl
        && context.own_and_planned_resource_names(variables.index).all(is_no_nic)
        && !pod.host_network()
        && pod.spec.as_ref().is_some_and(|s| s.resource_claims.is_none())
        && !opens_devices_of_node(context, variables)
}

/// Resources of the core and GPUs; any other may be a NIC under a site's own name.
fn is_no_nic(name: &str) -> bool {
    !name.contains('/')
        || ["nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu"].iter().any(|p| name.starts_with(p))
}

/// Whether an annotation may have a webhook or the runtime add devices. Networks of the profile are none: it is one on
/// Ethernet.
fn may_annotation_bring_device(context: &PodContext<'_>) -> bool {
    let annotations = context.pod().metadata.as_ref().and_then(|m| m.annotations.as_ref());
    let hints = |key: &str| {
        let names = key.contains("network") || key.contains("device") || key.contains("cdi");
        names && !key.starts_with("fabric-admission.dev/")
    };
    annotations.is_some_and(|a| {
        a.iter().any(|(key, _)| hints(key) && !(key == NETWORKS_ANNOTATION && only_of_profile(context)))
    })
}

fn only_of_profile(context: &PodContext<'_>) -> bool {
    let (Some((profile, _)), Some(networks)) =
        (context.resolution.profile(), context.subject.readable_networks())
    else {
        return false;
    };
    let here = context.subject.namespace;
    networks.items.iter().all(|item| {
        let namespace = item.namespace.as_deref().unwrap_or(here);
        profile.rails.iter().any(|rail| rail.network.is_network(namespace, &item.name, here))
    })
}

/// Whether a path of the node has RDMA devices below it.
fn has_devices(path: &str) -> bool {
    let rest = path.strip_prefix("/dev");
    rest.is_some_and(|rest| rest.starts_with("/infiniband") || rest.bytes().all(|b| b == b'/'))
}

fn has_volume_of_node(context: &PodContext<'_>) -> bool {
    let mut volumes = context.pod().volumes().iter();
    volumes.any(|v| v.host_path.as_ref().and_then(|h| h.path.as_deref()).is_some_and(has_devices))
}

/// Whether the container opens devices of the node without asking for them by a resource.
fn opens_devices_of_node(context: &PodContext<'_>, variables: &ContainerVariables<'_>) -> bool {
    let container = variables.container;
    container.privileged()
        || container.adds_capability("IPC_LOCK")
        || context.overlay.adds_ipc_lock(variables.index)
        || RUNTIME.iter().any(|name| container.last_entry_of_variable(name).is_some())
        || container.volume_mounts().iter().any(|m| m.mount_path.as_deref().is_some_and(has_devices))
}

//! A profile with its base folded in and every value checked: what a decision works with. The checks are in `checks`.

use super::checked_parts::{EnvEntry, Rail, Subset};
use super::gke_networks::GkeNetworks;
use super::ignorable_setting::Ignorable;
use super::memlock_setting::Memlock;
use super::monitor_settings::Monitor;
use super::placement_setting::NodeAffinity;
use super::preflight_settings::Preflight;
use super::profile_error::ProfileError;
use super::schema::{
    Attachment, FabricProfile, Inject, LabelSelector, NcclConf, OnMissing, Per, Resource, SmallFile,
    Transport, When,
};
use super::unknown_claims_setting::UnknownClaims;
use super::{checks, inherit, settings_fingerprint};
use crate::nccl::NcclVersion;

/// A checked profile without inheritance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Name.
    pub name: String,
    /// Changes with what the profile injects or asks, base included; not with its description.
    pub fingerprint: String,
    /// Nodes that carry the fabric; `None` where the profile does not say.
    pub node_selector: Option<LabelSelector>,
    /// Instance types that carry it.
    pub instance_types: Vec<String>,
    /// Decides among profiles of the same nodes; the larger wins.
    pub priority: i32,
    /// Transport of NCCL.
    pub transport: Transport,
    /// How the NIC reaches the pod.
    pub attachment: Attachment,
    /// How much may be injected.
    pub inject: Inject,
    /// Every attachment of a pod that uses a whole node, in order; counted rails are spelt out.
    pub rails: Vec<Rail>,
    /// Networks by GKE's own annotations.
    pub gke_networks: Option<GkeNetworks>,
    /// Named parts of the rails.
    pub subsets: Vec<Subset>,
    /// Resources that do not follow the rails.
    pub resources: Vec<Resource>,
    /// How containers pin memory beyond the runtime's limit; `None` where they need not.
    pub memlock: Option<Memlock>,
    /// Variables.
    pub env: Vec<EnvEntry>,
    /// Version of NCCL in its images, where their names do not tell.
    pub nccl_version: Option<NcclVersion>,
    /// Who writes `/etc/nccl.conf`.
    pub nccl_conf: NcclConf,
    /// Small files.
    pub files: Vec<SmallFile>,
    /// Bytes of `/dev/shm` for each whole accelerator.
    pub shm_per_accelerator: i64,
    /// Policy for a pod that the mutating webhook missed.
    pub on_missing: OnMissing,
    /// Findings that annotations of the pod may ignore.
    pub ignorable: Ignorable,
    /// Whole accelerators of a node (count).
    pub accelerators_per_node: u32,
    /// When it applies to a pod that did not name it.
    pub when: When,
    /// Policy for a claim on devices of an unknown driver.
    pub unknown_claims: UnknownClaims,
    /// Namespaces that may use it; `None` admits every one.
    pub namespaces: Option<LabelSelector>,
    /// Whether pods are kept to the nodes of `node_selector`, which is then there.
    pub node_affinity: NodeAffinity,
    /// The check of the fabric in its pods.
    pub preflight: Option<Preflight>,
    /// The metrics of the fabric from its pods.
    pub monitor: Option<Monitor>,
}

impl Profile {
    /// Folds the base in and checks every value.
    ///
    /// # Errors
    /// [`ProfileError`] names the first value that cannot work, and where it stands.
    pub fn checked_with_base(profile: &FabricProfile, bases: &[FabricProfile]) -> Result<Self, ProfileError> {
        let fail = |pointer: &str, message: String| ProfileError {
            profile: profile.metadata.name.clone(),
            pointer: pointer.to_owned(),
            message,
        };
        checks::metadata::check(profile, &fail)?;
        checks::list_lengths::check(&profile.spec, &fail)?;
        // The profile's own variables first: folded in, one that is there twice would be lost, and a pointer would
        // count the base's.
        checks::env::checked_and_implied_variables(&profile.spec, &fail)?;
        checks::memlock::refuse_memlock_with_ipc_lock(&profile.spec, &fail)?;
        let spec = inherit::spec_with_base(&profile.spec, bases, &fail)?;
        let transport =
            spec.transport.ok_or_else(|| fail("/spec/transport", "set transport or base".into()))?;
        let attachment =
            spec.attachment.ok_or_else(|| fail("/spec/attachment", "set attachment or base".into()))?;
        let accelerators_per_node = checks::accelerators_per_node::checked_or_default(&spec, &fail)?;
        let shm_per_accelerator = checks::shared_memory::checked_size_or_default(&spec, &fail)?;
        let rails = checks::rails::checked_rails_with_counts_expanded(&spec, &fail)?;
        checks::gke_networks::check(&spec, &fail)?;
        checks::preflight_and_monitor::check(&spec, &fail)?;
        checks::rails::refuse_rails_on_host_network(attachment, &rails, &fail)?;
        checks::bootstrap::check(&spec, &rails, &fail)?;
        let subsets = checks::subsets::checked_subsets(&spec, &rails, &fail)?;
        let node_affinity = spec.placement.as_ref().map(|p| p.node_affinity).unwrap_or_default();
        checks::node_selector::check(spec.node_selector.as_ref(), node_affinity, &fail)?;
        Ok(Self {
            name: profile.metadata.name.clone(),
            node_selector: spec.node_selector.clone(),
            instance_types: spec.instance_types.clone().unwrap_or_default(),
            priority: spec.priority.unwrap_or_default(),
            transport,
            attachment,
            inject: spec.inject.unwrap_or_default(),
            rails,
            subsets,
            gke_networks: spec.gke_networks.clone(),
            resources: checks::resources::checked_resources(&spec, &fail)?,
            memlock: checks::memlock::memlock_or_default_by_transport(&spec, transport),
            env: checks::env::checked_and_implied_variables(&spec, &fail)?,
            nccl_version: checks::nccl_version::checked_version(
                spec.nccl_version.as_ref(),
                "/spec/ncclVersion",
                &fail,
            )?,
            nccl_conf: spec.nccl_conf.unwrap_or_default(),
            files: checks::files::checked_files(&spec, &fail)?,
            fingerprint: settings_fingerprint::fingerprint_of_what_ranks_see(&spec),
            shm_per_accelerator,
            on_missing: spec.on_missing.unwrap_or_default(),
            ignorable: spec.ignorable.unwrap_or_default(),
            accelerators_per_node,
            when: spec.when.clone().unwrap_or_default(),
            unknown_claims: spec.unknown_claims.unwrap_or_default(),
            namespaces: spec.namespaces.clone(),
            node_affinity,
            preflight: spec.preflight.clone(),
            monitor: spec.monitor.clone(),
        })
    }

    /// The rails a pod with so many whole accelerators gets. Fewer than all only where they are
    /// interchangeable: one network repeated over one resource, so that any subset is the same fabric.
    #[must_use]
    pub fn rails_for_accelerators(&self, accelerators: u32) -> &[Rail] {
        let all = self.rails.len();
        let interchangeable = all > 1
            && self.rails.first().is_some_and(|first| {
                self.rails.iter().all(|r| r.network == first.network && r.resource == first.resource)
            });
        if !interchangeable || accelerators >= self.accelerators_per_node {
            return &self.rails;
        }
        let share = (all as u64 * u64::from(accelerators)).div_ceil(u64::from(self.accelerators_per_node));
        let count = usize::try_from(share).unwrap_or(all).clamp(1, all);
        self.rails.get(..count).unwrap_or(&self.rails)
    }

    /// A named part of the rails.
    #[must_use]
    pub fn subset(&self, name: &str) -> Option<&Subset> {
        self.subsets.iter().find(|s| s.name == name)
    }

    /// The first rail of the profile on a network, for a pod in `pod_namespace`.
    #[must_use]
    pub fn first_rail_on_network(&self, namespace: &str, name: &str, pod_namespace: &str) -> Option<&Rail> {
        self.rails.iter().find(|r| r.network.is_network(namespace, name, pod_namespace))
    }

    /// The resource behind a network of the profile, for a pod in `pod_namespace`.
    #[must_use]
    pub fn resource_of_network(&self, namespace: &str, name: &str, pod_namespace: &str) -> Option<&str> {
        self.first_rail_on_network(namespace, name, pod_namespace)?.resource.as_deref()
    }

    /// Whether a resource belongs to the profile.
    #[must_use]
    pub fn has_resource(&self, resource: &str) -> bool {
        self.rails.iter().any(|r| r.resource.as_deref() == Some(resource))
            || self.resources.iter().any(|r| r.name == resource)
    }
}

/// Units of a resource that is not a rail's own, for a container with so many accelerators and rails.
#[must_use]
pub fn units_of_other_resource(resource: &Resource, accelerators: u32, rails: u32) -> i64 {
    let times = match resource.per {
        Per::Container => 1,
        Per::Rail => rails,
        Per::Accelerator => accelerators,
    };
    i64::from(resource.quantity) * i64::from(times)
}

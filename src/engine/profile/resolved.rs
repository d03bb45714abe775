//! A profile with its base folded in and every value checked: what a decision works with.

use super::error::{Fail, ProfileError};
use super::gke::GkeNetworks;
use super::ignorable::Ignorable;
use super::memlock::Memlock;
use super::parts::{EnvEntry, Rail, Subset};
use super::placement::NodeAffinity;
use super::schema::{
    API_VERSION, Attachment, FabricProfile, Inject, KIND, LabelSelector, NcclConf, OnMissing, Per, Resource,
    SmallFile, Spec, Transport, When,
};
use super::unknown_claims::UnknownClaims;
use super::variables::version;
use super::{
    fingerprint, gke_check, inherit, limits, memlock_check, selector, small_files, subsets, variables,
};
use crate::multus::{NetworkRef, annotation};
use crate::nccl::NcclVersion;
use crate::pod::Quantity;

/// Sizes of `/dev/shm` where a profile says nothing: 8 GiB an accelerator.
pub(super) const DEFAULT_SHM: i64 = 8 << 30;
/// Least size for an accelerator (bytes): two of NCCL's proxy pools.
const MIN_SHM: i64 = 64 << 20;
/// Accelerators of a node where a profile says nothing: the HGX and DGX baseboards have eight.
const DEFAULT_ACCELERATORS: u32 = 8;

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
}

impl Profile {
    /// Folds the base in and checks every value.
    ///
    /// # Errors
    /// [`ProfileError`] names the first value that cannot work, and where it stands.
    pub fn resolve(profile: &FabricProfile, bases: &[FabricProfile]) -> Result<Self, ProfileError> {
        let fail = |pointer: &str, message: String| ProfileError {
            profile: profile.metadata.name.clone(),
            pointer: pointer.to_owned(),
            message,
        };
        if profile.api_version != API_VERSION || profile.kind != KIND {
            let found = format!("{} {}", profile.api_version, profile.kind);
            return Err(fail("/apiVersion", format!("expected {API_VERSION} {KIND}, found {found:?}")));
        }
        if !annotation::is_subdomain(&profile.metadata.name) {
            return Err(fail(
                "/metadata/name",
                "expected a name of lower-case letters, digits, '-' and '.'".into(),
            ));
        }
        limits::check(&profile.spec, &fail)?;
        // The profile's own variables first: folded in, one that is there twice would be lost, and a pointer would
        // count the base's.
        variables::check(&profile.spec, &fail)?;
        memlock_check::check(&profile.spec, &fail)?;
        let spec = inherit::folded(&profile.spec, bases, &fail)?;
        let transport =
            spec.transport.ok_or_else(|| fail("/spec/transport", "set transport or base".into()))?;
        let attachment =
            spec.attachment.ok_or_else(|| fail("/spec/attachment", "set attachment or base".into()))?;
        let accelerators_per_node = spec.accelerators_per_node.unwrap_or(DEFAULT_ACCELERATORS);
        if !(1..=64).contains(&accelerators_per_node) {
            return Err(fail("/spec/acceleratorsPerNode", "expected 1 to 64".into()));
        }
        let shm_per_accelerator = match &spec.shared_memory {
            None => DEFAULT_SHM,
            Some(shm) => match Quantity::parse(&shm.per_accelerator) {
                Ok(q) if q.units() >= MIN_SHM => q.units(),
                _ => {
                    let text = &shm.per_accelerator;
                    return Err(fail(
                        "/spec/sharedMemory/perAccelerator",
                        format!("{text:?} is not a size of at least 64Mi, such as 8Gi"),
                    ));
                }
            },
        };
        let rails = rails(&spec, &fail)?;
        gke_check::check(&spec, &fail)?;
        if attachment == Attachment::HostNetwork && !rails.is_empty() {
            let message = "attachment host-network attaches no networks; set rails: []".into();
            return Err(fail("/spec/rails", message));
        }
        if let Some(bootstrap) = &spec.bootstrap
            && bootstrap != "eth0"
            && rails.iter().all(|r| r.interface != *bootstrap)
        {
            let message = format!("{bootstrap:?} is neither eth0 nor the interface of a rail");
            return Err(fail("/spec/bootstrap", message));
        }
        let subsets = subsets::check(&spec, &rails, &fail)?;
        let node_affinity = spec.placement.as_ref().map(|p| p.node_affinity).unwrap_or_default();
        selector::check_nodes(spec.node_selector.as_ref(), node_affinity, &fail)?;
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
            resources: resources(&spec, &fail)?,
            memlock: memlock_check::of(&spec, transport),
            env: variables::check(&spec, &fail)?,
            nccl_version: version(spec.nccl_version.as_ref(), "/spec/ncclVersion", &fail)?,
            nccl_conf: spec.nccl_conf.unwrap_or_default(),
            files: small_files::check(&spec, &fail)?,
            fingerprint: fingerprint::of(&spec),
            shm_per_accelerator,
            on_missing: spec.on_missing.unwrap_or_default(),
            ignorable: spec.ignorable.unwrap_or_default(),
            accelerators_per_node,
            when: spec.when.clone().unwrap_or_default(),
            unknown_claims: spec.unknown_claims.unwrap_or_default(),
            namespaces: spec.namespaces.clone(),
            node_affinity,
        })
    }

    /// The rails a pod with so many whole accelerators gets. Fewer than all only where they are
    /// interchangeable: one network repeated over one resource, so that any subset is the same fabric.
    #[must_use]
    pub fn rails_for(&self, accelerators: u32) -> &[Rail] {
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
    pub fn rail_on(&self, namespace: &str, name: &str, pod_namespace: &str) -> Option<&Rail> {
        self.rails.iter().find(|r| r.network.is(namespace, name, pod_namespace))
    }

    /// The resource behind a network of the profile, for a pod in `pod_namespace`.
    #[must_use]
    pub fn resource_of(&self, namespace: &str, name: &str, pod_namespace: &str) -> Option<&str> {
        self.rail_on(namespace, name, pod_namespace)?.resource.as_deref()
    }

    /// Whether a resource belongs to the profile.
    #[must_use]
    pub fn serves_resource(&self, resource: &str) -> bool {
        self.rails.iter().any(|r| r.resource.as_deref() == Some(resource))
            || self.resources.iter().any(|r| r.name == resource)
    }
}

/// Most rails of a profile, counts included. No node has more NICs for RDMA.
const MAX_RAILS: usize = 64;

fn rails(spec: &Spec, fail: &Fail<'_>) -> Result<Vec<Rail>, ProfileError> {
    let mut rails: Vec<Rail> = Vec::new();
    for (i, rail) in spec.rails.iter().flatten().enumerate() {
        let at = |field: &str| format!("/spec/rails/{i}/{field}");
        let network = NetworkRef::parse(&rail.network).ok_or_else(|| {
            fail(&at("network"), format!("{:?} is not a network; write namespace/name", rail.network))
        })?;
        if network.name.contains('.') {
            let message = format!(
                "{:?}: the short form of the networks annotation allows no dot in a name",
                rail.network
            );
            return Err(fail(&at("network"), message));
        }
        if let Some(resource) = &rail.resource {
            check_resource(resource, &at("resource"), fail)?;
        }
        let count = rail.count.unwrap_or(1);
        if !(1..=64).contains(&count) {
            return Err(fail(&at("count"), "expected 1 to 64".into()));
        }
        let total = rails.len() + count as usize;
        if total > MAX_RAILS {
            return Err(fail("/spec/rails", format!("at least {total} rails; expected at most {MAX_RAILS}")));
        }
        for nth in 0..count {
            let interface = match &rail.interface {
                None => format!("rail{}", rails.len()),
                Some(first) => count_up(first, nth, count).ok_or_else(|| {
                    fail(
                        &at("interface"),
                        format!("{first:?} must end in a digit, which rises by 1 per attachment"),
                    )
                })?,
            };
            check_interface(&interface, &at("interface"), fail)?;
            if rails.iter().any(|r| r.interface == interface) {
                return Err(fail(&at("interface"), format!("two rails have the interface {interface:?}")));
            }
            rails.push(Rail { network: network.clone(), resource: rail.resource.clone(), interface });
        }
    }
    Ok(rails)
}

/// The name of the nth of `count` interfaces, counting up the digits that `first` ends in.
fn count_up(first: &str, nth: u32, count: u32) -> Option<String> {
    if count == 1 {
        return Some(first.to_owned());
    }
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let start: u32 = first.strip_prefix(stem)?.parse().ok()?;
    Some(format!("{stem}{}", start.checked_add(nth)?))
}

fn check_interface(interface: &str, pointer: &str, fail: &Fail<'_>) -> Result<(), ProfileError> {
    // Fewer characters than Linux takes: a bracket or a quote would turn the annotation's short form into JSON.
    let plain = interface
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    if !annotation::is_interface(interface) || !plain {
        let message =
            format!("{interface:?} is not an interface name: at most 15 of a-z, 0-9, '-', '_' and '.'");
        return Err(fail(pointer, message));
    }
    let positional = |stem: &str| {
        interface.strip_prefix(stem).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if interface == "lo" || positional("eth") || positional("net") {
        return Err(fail(
            pointer,
            format!(
                "{interface:?} is reserved: the cluster network and Multus assign ethN and netN by position; use railN"
            ),
        ));
    }
    Ok(())
}

fn check_resource(name: &str, pointer: &str, fail: &Fail<'_>) -> Result<(), ProfileError> {
    let valid = name.split_once('/').is_some_and(|(domain, rest)| {
        annotation::is_subdomain(domain)
            && !domain.ends_with("kubernetes.io")
            && (1..=63).contains(&rest.len())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
            && rest.ends_with(|c: char| c.is_ascii_alphanumeric())
    });
    if valid {
        Ok(())
    } else {
        Err(fail(pointer, format!("{name:?} is not an extended resource; write domain/name")))
    }
}

fn resources(spec: &Spec, fail: &Fail<'_>) -> Result<Vec<Resource>, ProfileError> {
    for (i, resource) in spec.resources.iter().flatten().enumerate() {
        check_resource(&resource.name, &format!("/spec/resources/{i}/name"), fail)?;
        if spec.resources.iter().flatten().take(i).any(|r| r.name == resource.name) {
            return Err(fail(&format!("/spec/resources/{i}/name"), format!("duplicate {:?}", resource.name)));
        }
        if !(1..=1024).contains(&resource.quantity) {
            return Err(fail(&format!("/spec/resources/{i}/quantity"), "expected 1 to 1024".into()));
        }
        if resource.per == Per::Rail && spec.rails.iter().flatten().next().is_none() {
            let message = "per: rail has no effect, because the profile has no rails".into();
            return Err(fail(&format!("/spec/resources/{i}/per"), message));
        }
        if spec.rails.iter().flatten().any(|r| r.resource.as_ref() == Some(&resource.name)) {
            let message = format!("a rail already requests {:?}; remove the resource here", resource.name);
            return Err(fail(&format!("/spec/resources/{i}/name"), message));
        }
    }
    Ok(spec.resources.clone().unwrap_or_default())
}

/// Units of a resource that is not a rail's own, for a container with so many accelerators and rails.
#[must_use]
pub fn fixed_units(resource: &Resource, accelerators: u32, rails: u32) -> i64 {
    let times = match resource.per {
        Per::Container => 1,
        Per::Rail => rails,
        Per::Accelerator => accelerators,
    };
    i64::from(resource.quantity) * i64::from(times)
}

//! Units of extended resources, except accelerators, that the containers of a pod hold, in one pass.

use super::count_attachments::{AttachmentKind, Attachments};
use crate::demands::Subject;
use crate::facts::DriverKind;
use crate::facts::device_class::driver_or_name_of_class;
use crate::multus::facts_of_network::is_extended_resource;
use crate::plan::target_container_type::{self, Target};
use crate::plan::user_fabric_counts::CountedUnits;
use crate::pod::containers_and_their_resources::{ContainerPlace, units_or_zero};
use crate::pod::nic_resource_names::is_rdma_device_by_name;
use crate::pod::{AcceleratorNames, Quantity};
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use std::collections::BTreeMap;

/// Domain of the resources that GKE's own webhook requests, for the networks of its annotation.
const GKE_RESOURCES: &str = "networking.gke.io.networks/";

/// Units by resource.
pub(in crate::plan) struct HeldUnits<'a> {
    held: BTreeMap<&'a str, Held>,
    rails: Vec<&'a str>,
    /// Whether any quantity is not a number, such as `$GPUS`.
    pub(super) unread: bool,
}

#[derive(Default)]
struct Held {
    /// Of the target containers of the profile.
    targets: i64,
    /// Of the other running containers.
    others: i64,
    /// Of plain init containers, which release their devices.
    inits: i64,
}

impl Held {
    fn running(&self) -> i64 {
        self.targets.saturating_add(self.others)
    }
}

impl<'a> HeldUnits<'a> {
    pub(super) fn count_held_units(
        subject: &'a Subject<'a>,
        profile: &'a Profile,
        targets: &[Target],
    ) -> Self {
        let accelerators: &AcceleratorNames = &subject.snapshot.settings().accelerators;
        let mut held: BTreeMap<&str, Held> = BTreeMap::new();
        let mut unread = false;
        for (holder, container) in subject.pod.containers_not_added_by_webhook() {
            container.for_each_resource_quantity(&mut |name, quantity| {
                unread |= Quantity::parse(&quantity.0).is_err();
                if !is_extended_resource(name) {
                    return;
                }
                let units = units_or_zero(quantity);
                if units <= 0 || accelerators.contains(name) || backs_accelerator(name, subject.snapshot) {
                    return;
                }
                let entry = held.entry(name).or_default();
                let sum = match holder {
                    ContainerPlace::App(index)
                        if target_container_type::target_at_container_index(targets, index).is_some() =>
                    {
                        &mut entry.targets
                    }
                    ContainerPlace::App(_) | ContainerPlace::Sidecar(_) => &mut entry.others,
                    ContainerPlace::Init(_) => &mut entry.inits,
                };
                *sum = sum.saturating_add(units);
            });
        }
        let mut rails: Vec<&str> = profile.rails.iter().filter_map(|r| r.resource.as_deref()).collect();
        rails.sort_unstable();
        rails.dedup();
        Self { held, rails, unread }
    }

    /// Names of the resources, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.held.keys().copied()
    }

    /// Units of resources that the profile does not have on running containers (count), and the first of them.
    pub(super) fn running_units_outside_profile(&self, profile: &Profile) -> (i64, Option<&'a str>) {
        let others = || self.held.iter().filter(|(name, _)| !profile.has_resource(name));
        let sum = others().fold(0_i64, |sum, (_, held)| sum.saturating_add(held.running()));
        (sum, others().next().map(|(name, _)| *name))
    }

    /// Units of the rails' resources on running containers (count).
    pub(super) fn running_units_of_rails(&self) -> i64 {
        let held = self.rails.iter().filter_map(|name| self.held.get(name));
        held.fold(0, |sum, held| sum.saturating_add(held.running()))
    }

    /// A resource with an RDMA device that the profile does not have.
    pub(super) fn rdma_resource_outside_profile(
        &self,
        subject: &Subject<'_>,
        profile: &Profile,
    ) -> Option<&'a str> {
        let gke = |name: &str| profile.gke_networks.is_some() && name.starts_with(GKE_RESOURCES);
        self.names().find(|name| !profile.has_resource(name) && !gke(name) && is_rdma(name, subject.snapshot))
    }

    /// A resource with an RDMA device that a container of the profile holds.
    pub(super) fn rdma_resource_held_by_targets(
        &self,
        subject: &Subject<'_>,
        profile: &Profile,
    ) -> Option<&'a str> {
        let served = |name: &str| profile.transport.is_verbs() && profile.has_resource(name);
        let mut held = self.held.iter().filter(|(_, held)| held.targets > 0).map(|(name, _)| *name);
        held.find(|name| served(name) || is_rdma(name, subject.snapshot))
    }

    /// Attachments that may still be added, by resource, for the rails' resources of which the target containers
    /// request more units than there are attachments: at most one per unit. Multus uses the devices of all running
    /// containers, so units of others count as well, but do not limit anything on their own (multus-cni
    /// pkg/k8sclient).
    ///
    /// Exactly as many units as attachments set no limit: network-resources-injector adds them to whatever networks
    /// it finds, and the profile's other rails are still missing. A pod that was injected before (`injected`) is the
    /// exception: there they are the pod's original units.
    pub(super) fn most_rails_to_add_per_resource(
        &self,
        attachments: &Attachments<'_>,
        injected: bool,
    ) -> BTreeMap<String, i64> {
        let taken = attachments.profile_units_taken();
        // A network that is not at hand may take a unit of any of them.
        let unknown = i64::try_from(attachments.count(AttachmentKind::Unknown)).unwrap_or(i64::MAX);
        let mut room = BTreeMap::new();
        for name in &self.rails {
            let Some(held) = self.held.get(name).filter(|held| held.targets > 0) else { continue };
            let left = held.running().saturating_sub(taken.get(name).copied().unwrap_or(0));
            let left = left.saturating_sub(unknown);
            if left > 0 || unknown > 0 || injected {
                room.insert((*name).to_owned(), left.max(0));
            }
        }
        room
    }

    /// The units for people, by name.
    pub(super) fn counted(&self) -> Vec<CountedUnits> {
        let running = self.held.iter().filter(|(_, held)| held.running() > 0);
        let counted = |(name, held): (&&str, &Held)| CountedUnits {
            resource: (*name).to_owned(),
            targets: held.targets,
            others: held.others,
        };
        running.map(counted).collect()
    }
}

/// Whether a container gets an RDMA device with a resource: by the objects that configure it, else by its name.
fn is_rdma(name: &str, snapshot: &Snapshot) -> bool {
    if let Some(known) = snapshot.resource(name).and_then(|fact| fact.rdma) {
        return known;
    }
    let driver = snapshot.cluster_facts_for_audience().device_class_of_resource(name).map(|class| {
        let driver = driver_or_name_of_class(class, snapshot.device_class(class));
        snapshot.settings().harmless_drivers.kind_of_driver(driver)
    });
    match driver {
        Some(DriverKind::Nic) => true,
        Some(DriverKind::Harmless) => false,
        Some(DriverKind::Unknown) | None => is_rdma_device_by_name(name),
    }
}

/// Whether a DeviceClass of accelerators provides a resource.
fn backs_accelerator(name: &str, snapshot: &Snapshot) -> bool {
    let class = snapshot.cluster_facts_for_audience().device_class_of_resource(name);
    class.is_some_and(|class| {
        crate::facts::device_class::is_class_of_whole_accelerators(class, snapshot.device_class(class))
    })
}

//! The init containers that the webhook adds. They are never targets, and their devices are those of the containers after
//! them: the kubelet gives the devices of an ordinary init container to later containers
//! (k8s.io/kubernetes pkg/kubelet/cm/devicemanager/manager.go, `devicesToAllocate`).

use super::cached_answers_about_pod::PlaceOfPreflightContainer;
use super::pod_fields::{Container, PodView};
use crate::json::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// Copies the program into the volume.
pub const INSTALL_CONTAINER: &str = "fabric-install";
/// Checks the fabric.
pub const PREFLIGHT_CONTAINER: &str = "fabric-preflight";
/// Exports the counters.
pub const MONITOR_CONTAINER: &str = "fabric-monitor";
/// Where our containers mount their volume.
pub const PROGRAM_VOLUME_PATH: &str = "/fabric-admission";
/// Where they mount the image of the program, if it comes as a volume.
pub const IMAGE_PATH: &str = "/fabric-admission-image";
/// File name of the program.
pub const PROGRAM: &str = "fabric-admission";

impl Container<'_> {
    /// Whether a container has the name and the command of one that the webhook adds.
    fn claims_to_be_added(&self) -> bool {
        let starts =
            |words: &[&str]| self.command_and_argument_words().take(words.len()).eq(words.iter().copied());
        match self.name() {
            INSTALL_CONTAINER => starts(&["preflight", "--install"]) && !self.holds_devices(),
            MONITOR_CONTAINER => starts(&["monitor"]) && self.is_sidecar() && !self.holds_devices(),
            PREFLIGHT_CONTAINER => {
                let at = |path: &str| starts(&[&[path, "/", PROGRAM].concat(), "preflight"]);
                !self.is_sidecar() && (at(PROGRAM_VOLUME_PATH) || at(IMAGE_PATH))
            }
            _ => false,
        }
    }

    /// Names of the claims that it uses.
    fn claim_names(&self) -> impl Iterator<Item = &str> {
        let claims = self.resources.as_ref().and_then(|r| r.claims.as_deref()).unwrap_or_default();
        claims.iter().filter_map(|claim| claim.name.as_deref())
    }

    /// Whether it requests a claim or an extended resource; only those have a domain.
    fn holds_devices(&self) -> bool {
        self.claim_names().next().is_some() || self.resource_names().any(|name| name.contains('/'))
    }
}

impl PodView<'_> {
    /// Whether an init container is one that the webhook adds: the devices of preflight are those of other containers, and
    /// the others hold none. Its devices and variables count as those of any init container, since anyone can write one with
    /// its name and command; it only gets no advice that its author would get.
    #[must_use]
    pub fn looks_added_by_webhook(&self, index: usize, container: &Container<'_>) -> bool {
        match container.name() {
            PREFLIGHT_CONTAINER => self.preflight_at().is_some_and(|at| at.container == index),
            _ => container.claims_to_be_added(),
        }
    }

    /// The place of the preflight container that the webhook added.
    fn preflight_at(&self) -> Option<PlaceOfPreflightContainer> {
        *self.spec.as_ref()?.preflight_at.get_or_init(|| {
            let inits = self.init_containers();
            let container = inits.iter().position(|c| c.name() == PREFLIGHT_CONTAINER)?;
            let found = inits
                .get(container)
                .filter(|c| c.claims_to_be_added() && self.holds_only_devices_of_apps(c))?;
            Some(PlaceOfPreflightContainer {
                container,
                mount: found.mount_at(PROGRAM_VOLUME_PATH).map(|(at, _)| at),
            })
        })
    }

    /// Whether all devices and claims of the preflight container are those of app containers.
    fn holds_only_devices_of_apps(&self, preflight: &Container<'_>) -> bool {
        let mut units: BTreeMap<&str, i64> = BTreeMap::new();
        let mut claims = BTreeSet::new();
        for container in self.containers() {
            container.for_each_resource_quantity(&mut |name, quantity| {
                let sum = units.entry(name).or_default();
                *sum = sum.saturating_add(whole(&quantity.0).unwrap_or_default());
            });
            claims.extend(container.claim_names());
        }
        let mut within = true;
        preflight.for_each_resource_quantity(&mut |name, quantity| {
            let most = units.get(name).copied().unwrap_or_default();
            within &= !name.contains('/') || whole(&quantity.0).is_some_and(|asked| asked <= most);
        });
        within && preflight.claim_names().all(|name| claims.contains(name))
    }

    /// The volume in which the preflight container of the pod writes `nccl.conf`.
    #[must_use]
    pub fn preflight_volume(&self) -> Option<&str> {
        let at = self.preflight_at()?;
        self.init_containers().get(at.container)?.volume_mounts().get(at.mount?)?.name.as_deref()
    }

    /// An init container that the webhook added, by its name.
    #[must_use]
    pub fn container_that_looks_added(&self, name: &str) -> Option<&Container<'_>> {
        let mut inits = self.init_containers().iter().enumerate();
        inits.find(|(index, c)| c.name() == name && self.looks_added_by_webhook(*index, c)).map(|(_, c)| c)
    }
}

/// The units of a quantity; `None` where it is not one.
fn whole(text: &str) -> Option<i64> {
    Quantity::parse(text).ok().map(Quantity::units_rounded_up)
}

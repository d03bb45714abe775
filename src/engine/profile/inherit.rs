//! What a profile inherits from its base.

use super::checks::{env::BOOTSTRAP_VARIABLE, memlock};
use super::profile_error::{Fail, ProfileError};
use super::schema::{FabricProfile, Spec};
use crate::text::{escaped_and_cut, nearest_if_probably_meant};

/// Characters of the name of a base that a message shows: a name of an object has at most so many.
const MAX_NAME: usize = 253;

/// The settings of a profile with those of its base.
pub(super) fn spec_with_base(
    own: &Spec,
    bases: &[FabricProfile],
    fail: &Fail<'_>,
) -> Result<Spec, ProfileError> {
    let Some(name) = &own.base else { return Ok(own.clone()) };
    let Some(base) = bases.iter().find(|b| b.metadata.name == *name) else {
        let hint = nearest_if_probably_meant(name, bases.iter().map(|b| b.metadata.name.as_str()));
        let hint = hint.map(|h| format!("; did you mean {h:?}?")).unwrap_or_default();
        let name = escaped_and_cut(name, MAX_NAME);
        return Err(fail("/spec/base", format!("compiled-in profile {name:?} does not exist{hint}")));
    };
    Ok(inherit_absent_fields(own, &base.spec))
}

/// Fields that are absent come from the base; variables merge by name, so that setting one does not lose the
/// others.
fn inherit_absent_fields(own: &Spec, base: &Spec) -> Spec {
    let mut env: Vec<_> = base.env.clone().unwrap_or_default();
    if let Some(bootstrap) = &own.bootstrap {
        for entry in env.iter_mut().filter(|e| e.name == BOOTSTRAP_VARIABLE) {
            entry.value = Some(bootstrap.clone());
            entry.reason = Some(format!("the profile's bootstrap interface is {bootstrap}"));
        }
    }
    for entry in own.env.iter().flatten() {
        match env.iter_mut().find(|e| e.name == entry.name) {
            Some(slot) => *slot = entry.clone(),
            None => env.push(entry.clone()),
        }
    }
    // A profile with rails of its own does not inherit the resources that went with the base's rails.
    let base_resources = if own.rails.is_some() { None } else { base.resources.clone() };
    let (ipc_lock, memlock) = memlock::nearest_ipc_lock_and_memlock(own, base);
    Spec {
        base: own.base.clone(),
        description: own.description.clone().or_else(|| base.description.clone()),
        node_selector: own.node_selector.clone().or_else(|| base.node_selector.clone()),
        instance_types: own.instance_types.clone().or_else(|| base.instance_types.clone()),
        priority: own.priority.or(base.priority),
        namespaces: own.namespaces.clone().or_else(|| base.namespaces.clone()),
        when: own.when.clone().or_else(|| base.when.clone()),
        inject: own.inject.or(base.inject),
        transport: own.transport.or(base.transport),
        attachment: own.attachment.or(base.attachment),
        accelerators_per_node: own.accelerators_per_node.or(base.accelerators_per_node),
        rails: own.rails.clone().or_else(|| base.rails.clone()),
        subsets: own
            .subsets
            .clone()
            .or_else(|| if own.rails.is_some() { None } else { base.subsets.clone() }),
        gke_networks: own.gke_networks.clone().or_else(|| base.gke_networks.clone()),
        resources: own.resources.clone().or(base_resources),
        ipc_lock,
        memlock,
        env: Some(env),
        preflight: own.preflight.clone().or_else(|| base.preflight.clone()),
        monitor: own.monitor.clone().or_else(|| base.monitor.clone()),
        nccl_version: own.nccl_version.clone().or_else(|| base.nccl_version.clone()),
        nccl_conf: own.nccl_conf.or(base.nccl_conf),
        files: own.files.clone().or_else(|| base.files.clone()),
        shared_memory: own.shared_memory.clone().or_else(|| base.shared_memory.clone()),
        on_missing: own.on_missing.or(base.on_missing),
        ignorable: own.ignorable.or(base.ignorable),
        pin_transport: own.pin_transport.or(base.pin_transport),
        unknown_claims: own.unknown_claims.or(base.unknown_claims),
        placement: own.placement.clone().or_else(|| base.placement.clone()),
        bootstrap: own.bootstrap.clone().or_else(|| base.bootstrap.clone()),
    }
}

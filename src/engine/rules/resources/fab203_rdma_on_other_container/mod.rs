//! FAB203: units of an RDMA resource on a container without accelerators.

use crate::pod::containers_and_their_resources::ContainerPlace;
use crate::pod::pod_fields::Container;
use crate::rules::devices_of_pod::ResourceNamesOfNetworks;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{count_with_noun, escaped_and_cut, json_pointer_token};

pub(super) static RULE: Rule =
    Rule { id: "FAB203", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let has_others = (0..pod.containers().len())
        .any(|index| !context.is_target_or_requests_accelerators_without_plan(index))
        || pod.init_containers().iter().any(Container::is_sidecar);
    let has_targets = || {
        (0..pod.containers().len())
            .any(|index| context.is_target_or_requests_accelerators_without_plan(index))
    };
    if pod.host_network() || !has_others || !has_targets() {
        return;
    }
    let devices = context.devices();
    let profile = context.resolution.profile().map(|(p, _)| p);
    for need in &devices.needs {
        let is_it = |name: &str| {
            let rdma = || context.subject.snapshot.resource(name).and_then(|fact| fact.rdma) == Some(true);
            profile.is_some_and(|p| p.has_resource(name)) || rdma()
        };
        let own = need.holders.iter().filter(|(holder, name, _)| holder.is_app_or_sidecar() && is_it(name));
        let (of_targets, others) =
            units_of_targets_and_others(context, own.map(|(holder, _, units)| (*holder, *units)));
        if of_targets >= need.attachments {
            continue;
        }
        for (holder, units) in others {
            let have = format!(
                "the containers with accelerators need {} but request {of_targets}",
                need.attachments
            );
            report(context, &need.shown, holder, units, findings, have);
        }
    }
    // Units of the profile's other resources that only containers without accelerators request.
    let counted = context.plan.user_fabric.iter().flat_map(|user_fabric| &user_fabric.units);
    let of_profile = |name: &str| profile.is_some_and(|p| p.resources.iter().any(|r| r.name == name));
    for units in counted.filter(|u| u.targets == 0 && u.others > 0 && of_profile(&u.resource)) {
        let known =
            devices.held.iter().any(|held| held.name == units.resource && held.fact.rdma == Some(true));
        for (holder, container) in
            pod.containers_not_added_by_webhook().filter(|(holder, _)| holder.is_app_or_sidecar() && !known)
        {
            let held = container.units_of_resource(&units.resource).unwrap_or(0);
            if held > 0 {
                let have = "the containers with accelerators request no units".to_owned();
                report(context, &units.resource, holder, held, findings, have);
            }
        }
    }
    // A device that needs no network, such as an InfiniBand device, is also useless in a container without
    // accelerators.
    let rdma = devices.held.iter().filter(|held| held.fact.rdma == Some(true));
    let needed = ResourceNamesOfNetworks::of(&devices.needs);
    for held in rdma.filter(|held| !needed.has(held.name)) {
        if findings.must_stop_reporting() {
            return;
        }
        let (of_targets, others) = units_of_targets_and_others(context, held.holders.iter().copied());
        for (holder, units) in others.into_iter().filter(|_| of_targets == 0) {
            report(
                context,
                held.name,
                holder,
                units,
                findings,
                "the containers with accelerators request no units".to_owned(),
            );
        }
    }
}

/// The total units of the containers that the profile is for, and the units of each other container.
fn units_of_targets_and_others(
    context: &PodContext<'_>,
    holders: impl Iterator<Item = (ContainerPlace, i64)>,
) -> (i64, Vec<(ContainerPlace, i64)>) {
    let accelerators = &context.subject.snapshot.settings().accelerators;
    let is_target = |holder: ContainerPlace| match holder {
        ContainerPlace::App(index) => context.is_target_or_requests_accelerators_without_plan(index),
        ContainerPlace::Sidecar(index) | ContainerPlace::Init(index) => {
            let container = context.pod().init_containers().get(index);
            container.is_some_and(|c| c.resource_names().any(|name| accelerators.contains(name)))
        }
    };
    let (mut of_targets, mut others) = (0_i64, Vec::new());
    for (holder, units) in holders {
        match is_target(holder) {
            true => of_targets = of_targets.saturating_add(units),
            false => others.push((holder, units)),
        }
    }
    (of_targets, others)
}

fn report(
    context: &PodContext<'_>,
    shown: &str,
    holder: ContainerPlace,
    units: i64,
    findings: &mut FindingsOfRule<'_>,
    have: String,
) {
    let pod = context.pod();
    let container = match holder {
        ContainerPlace::App(index) => pod.containers().get(index),
        ContainerPlace::Sidecar(index) | ContainerPlace::Init(index) => pod.init_containers().get(index),
    };
    let name = container.map(|c| escaped_and_cut(c.name(), 63)).unwrap_or_default();
    let units = count_with_noun(usize::try_from(units).unwrap_or(usize::MAX), "unit");
    findings.add(
        format!("{}/resources/limits/{}", holder.json_pointer(), json_pointer_token(shown)),
        format!("container {name:?} requests {units} of {shown} but no accelerators; {have}"),
        "Move the units to containers with accelerators.",
    );
}

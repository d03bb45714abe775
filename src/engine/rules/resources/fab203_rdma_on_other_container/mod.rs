//! FAB203: units of an RDMA resource on a container without accelerators.

use crate::pod::pod_fields::Container;
use crate::pod::resource_units::Holder;
use crate::rules::devices_of_pod::Needed;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{count, json_pointer_token, printable};

pub(super) static RULE: Rule =
    Rule { id: "FAB203", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let pod = context.pod();
    let has_others = (0..pod.containers().len()).any(|index| !context.is_target(index))
        || pod.init_containers().iter().any(Container::is_sidecar);
    let has_targets = || (0..pod.containers().len()).any(|index| context.is_target(index));
    if pod.host_network() || !has_others || !has_targets() {
        return;
    }
    let devices = context.devices();
    let profile = context.resolution.profile().map(|(p, _)| p);
    for need in &devices.needs {
        let is_it = |name: &str| {
            let rdma = || context.subject.snapshot.resource(name).and_then(|fact| fact.rdma) == Some(true);
            profile.is_some_and(|p| p.serves_resource(name)) || rdma()
        };
        let own = need.holders.iter().filter(|(holder, name, _)| holder.runs() && is_it(name));
        let (of_targets, others) = sorted(context, own.map(|(holder, _, units)| (*holder, *units)));
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
        for (holder, container) in pod.holders().filter(|(holder, _)| holder.runs() && !known) {
            let held = container.units(&units.resource).unwrap_or(0);
            if held > 0 {
                let have = "the containers with accelerators request no units".to_owned();
                report(context, &units.resource, holder, held, findings, have);
            }
        }
    }
    // A device that needs no network, such as an InfiniBand device, is also useless in a container without
    // accelerators.
    let rdma = devices.held.iter().filter(|held| held.fact.rdma == Some(true));
    let needed = Needed::of(&devices.needs);
    for held in rdma.filter(|held| !needed.has(held.name)) {
        if findings.must_stop_reporting() {
            return;
        }
        let (of_targets, others) = sorted(context, held.holders.iter().copied());
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
fn sorted(
    context: &PodContext<'_>,
    holders: impl Iterator<Item = (Holder, i64)>,
) -> (i64, Vec<(Holder, i64)>) {
    let accelerators = &context.subject.snapshot.settings().accelerators;
    let is_target = |holder: Holder| match holder {
        Holder::App(index) => context.is_target(index),
        Holder::Sidecar(index) | Holder::Init(index) => {
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
    holder: Holder,
    units: i64,
    findings: &mut Findings<'_>,
    have: String,
) {
    let pod = context.pod();
    let container = match holder {
        Holder::App(index) => pod.containers().get(index),
        Holder::Sidecar(index) | Holder::Init(index) => pod.init_containers().get(index),
    };
    let name = container.map(|c| printable(c.name(), 63)).unwrap_or_default();
    let units = count(usize::try_from(units).unwrap_or(usize::MAX), "unit");
    findings.add(
        format!("{}/resources/limits/{}", holder.path(), json_pointer_token(shown)),
        format!("container {name:?} requests {units} of {shown} but no accelerators; {have}"),
        "Move the units to containers with accelerators.",
    );
}

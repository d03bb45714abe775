//! FAB202: fewer device units than the pod's network attachments need.

use crate::json::types_of_decoded_fields::Quantities;
use crate::multus::ResourceRef;
use crate::pod::Quantity;
use crate::rules::devices_of_pod::ResourceOfNetworks;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{count_with_noun, json_pointer_token};
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB202",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, OTHER_WEBHOOK), (Severity::Warning, UNCERTAIN)],
    files: files!(),
    reach: PodsChecked::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const OTHER_WEBHOOK: &str = "another webhook (network-resources-injector) may add the units";
const UNCERTAIN: &str = "some of the networks may need no unit";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    // A claim may give the pod the devices (DRA), but the pod itself does not show whether it does.
    let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).is_some_and(|c| !c.is_empty());
    if pod.host_network() || claims {
        return;
    }
    let mut short = context
        .devices()
        .needs
        .iter()
        .filter(|n| n.units_of_running_containers() < n.attachments_without_device)
        .peekable();
    if short.peek().is_none() {
        return;
    }
    let unread = ResourcesWithUnreadQuantity::of(context);
    for need in short {
        if findings.must_stop_reporting() {
            return;
        }
        if !unread.has(need.resource) {
            report(need, findings);
        }
    }
}

/// Resources with a quantity that cannot be read. Their number of units is not known, and FAB201 reports them.
#[derive(Default)]
struct ResourcesWithUnreadQuantity<'a> {
    names: HashSet<&'a str>,
    /// The parts of the names after the prefix.
    endings: HashSet<&'a str>,
}

impl<'a> ResourcesWithUnreadQuantity<'a> {
    fn of(context: &PodContext<'a>) -> Self {
        let pod = context.pod();
        let containers = pod.containers().iter().chain(pod.init_containers());
        let lists = containers.flat_map(|c| [c.limits(), c.requests()]).flatten();
        let names = lists.flat_map(Quantities::iter).filter(|(_, text)| Quantity::parse(&text.0).is_err());
        let names: HashSet<&str> = names.map(|(name, _)| name).collect();
        let endings = names.iter().filter_map(|name| Some(name.split_once('/')?.1)).collect();
        Self { names, endings }
    }

    fn has(&self, resource: ResourceRef<'_>) -> bool {
        match resource {
            ResourceRef::Full(name) => self.names.contains(name),
            ResourceRef::Suffix(ending) => self.endings.contains(ending),
        }
    }
}

fn report(need: &ResourceOfNetworks<'_>, findings: &mut FindingsOfRule<'_>) {
    let ResourceOfNetworks { shown, attachments_without_device: attachments, .. } = need;
    let units = need.units_of_running_containers();
    let takes = count_with_noun(usize::try_from(*attachments).unwrap_or(usize::MAX), "unit");
    // The object of the operator has the resource name without the prefix. The prefix is a setting of the operator.
    let name = match need.resource.full() {
        Some(_) => shown.clone().into_owned(),
        None => shown.replacen("*/", "openshift.io/", 1),
    };
    let prefix = if name == *shown { "" } else { " (or with the prefix that the operator sets)" };
    let fix = format!("Set limit {name}: {attachments}{prefix} on the container that uses RDMA.");
    if let Some((holder, name, _)) =
        need.holders.iter().find(|(holder, ..)| !holder.is_app_or_sidecar() && units == 0)
    {
        findings.add_with_severity(
            Severity::Warning,
            format!("{}/resources/limits/{}", holder.json_pointer(), json_pointer_token(name)),
            format!("only an init container requests {name}, which the networks need: Multus ignores devices of init containers"),
            fix,
        );
        return;
    }
    if let Some(namesake) = need.namesake.filter(|_| units == 0) {
        findings.add_with_severity(
            Severity::Warning,
            networks_annotation(),
            format!("the networks need {takes} of {shown}, but the containers request {namesake}: Multus finds no device"),
            format!("Replace {namesake} with {shown}, the name in the network's annotation."),
        );
        return;
    }
    // Only a warning if another webhook may still add the units, or if the units suffice for all certain attachments.
    let short = units > 0 && need.certain_attachments > units;
    let severity = if short { Severity::Error } else { Severity::Warning };
    let why = match (short, units) {
        (true, _) => ": a network gets no device, and fails",
        (false, 0) => ": attaching the networks fails unless another webhook adds units",
        (false, _) => ": a network may get no device",
    };
    findings
        .with_reason_for_lower_severity(if units == 0 { OTHER_WEBHOOK } else { UNCERTAIN })
        .add_with_severity(
            severity,
            networks_annotation(),
            format!("the networks need {takes} of {shown}, but the containers request {units}{why}"),
            fix,
        );
}

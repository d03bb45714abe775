//! FAB134: several Ethernet interfaces of a pod in one subnet.

use super::attached::{Attached, attached};
use crate::multus::subnet::first_overlap;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths::annotation_path;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB134",
    severity: Severity::Warning,
    quiet: true,
    lesser: &[(Severity::Info, "only the platform team can change the networks of the profile")],
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let all: Vec<Attached<'_>> = attached(context).collect();
    let snapshot = context.subject.snapshot;
    let subnets = all.iter().enumerate().flat_map(|(index, attachment)| {
        attachment.fact.into_iter().flat_map(|fact| snapshot.subnets_of(fact)).map(move |s| (*s, index))
    });
    let Some((subnet, first, second)) = first_overlap(subnets.collect()) else { return };
    let (Some(first), Some(second)) = (all.get(first), all.get(second)) else { return };
    let message = format!(
        "items {} ({}) and {} ({}) share subnet {subnet}: Linux sends through only one of the two interfaces",
        first.place,
        first.describe(),
        second.place,
        second.describe()
    );
    let pair = [first, second].into_iter().map(|a| (a.namespace, &*a.item.name));
    match context.profile_of(pair) {
        Some(profile) => findings.with(&profile.name).add_as(
            Severity::Info,
            annotation_path(),
            message,
            format!(
                "Ask the platform team for one subnet per rail: both networks are rails of profile \"{}\".",
                profile.name
            ),
        ),
        None => findings.add(
            annotation_path(),
            message,
            "Use one subnet per rail, or add plugin sbr to each network.",
        ),
    }
}

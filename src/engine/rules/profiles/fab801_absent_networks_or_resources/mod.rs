//! FAB801: networks or resources of the profile do not exist.

use crate::resolve::{Evidence, MissingNetworkOrResource};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB801",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "neither the pod nor its namespace names the profile")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, evidence)) = context.resolution.profile() else { return };
    let missing = &context.plan.missing;
    let Some(first) = missing.first() else { return };
    // By the namespace's annotation, not by the evidence: what is injected becomes evidence itself.
    let default = context.subject.namespace_facts.and_then(|f| f.profile.as_deref());
    let named = *evidence == Evidence::PodAnnotation
        || *evidence != Evidence::Flag && default == Some(profile.name.as_str());
    let severity = if named { Severity::Error } else { Severity::Warning };
    let more = match missing.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let (verb, fix) = match first {
        MissingNetworkOrResource::Network(_) => {
            ("does not exist", "Create the NetworkAttachmentDefinition, or correct the rails")
        }
        MissingNetworkOrResource::Resource(_) => {
            ("is on none of the profile's nodes", "Create the device pool, or correct the resources")
        }
    };
    let message = format!("{first}{more} of profile {:?} {verb}", profile.name);
    findings.add_with_severity(severity, "", message, format!("{fix} of profile {:?}.", profile.name));
}

//! FAB367: API version that current CRDs do not have.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{KINDS_WITH_KNOWN_FIELDS, MPI_JOB};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::WorkloadContext;
use crate::schemas;
use crate::text::escaped_and_cut;
use serde::Deserialize;

pub(super) static RULE: Rule = Rule {
    id: "FAB367",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the version may be newer than the CRDs that the rules know")],
    files: files!(),
    kinds: KINDS_WITH_KNOWN_FIELDS,
    may_hold: &[MPI_JOB],
    at_one_point: true,
    workload: Some(check_workload),
    object: Some(check_object),
    ..Rule::DEFAULT
};

#[derive(Deserialize)]
struct Versioned {
    #[serde(rename = "apiVersion")]
    api_version: String,
}

fn check_workload(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // In a request the API server has the version.
    if context.snapshot.is_not_for_operator() {
        return;
    }
    let maker = context.maker;
    // The object check has seen it.
    if maker.pointer.is_empty() && (maker.group.as_str(), maker.kind.as_str()) == MPI_JOB {
        return;
    }
    let Ok(versioned) = crate::json::reader::read::<Versioned>(maker.json) else { return };
    check((&maker.group, &maker.kind), &versioned.api_version, &maker.pointer, findings);
}

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if let Some(version) = context.non_empty_text_at("/apiVersion").filter(|_| !context.validated) {
        check((context.group, context.kind), version, "", findings);
    }
}

fn check((group, kind): (&str, &str), api_version: &str, at: &str, findings: &mut FindingsOfRule<'_>) {
    let Some(known) = schemas::schema_of_crd(group, kind).map(|schema| schema.versions.as_slice()) else {
        return;
    };
    let version = api_version.rsplit('/').next().unwrap_or_default();
    if known.contains(&version) {
        return;
    }
    let shown = escaped_and_cut(api_version, 80);
    let all: Vec<String> = known.iter().map(|version| format!("{group}/{version}")).collect();
    let fix = format!("Write apiVersion: {}.", all.join(" or "));
    let path = format!("{at}/apiVersion");
    if known.iter().all(|known| order_of_api_version(version) < order_of_api_version(known)) {
        let message =
            format!("current CRDs do not serve {kind} in version {shown}: the API server refuses the object");
        findings.add(path, message, fix);
    } else {
        let message =
            format!("version {shown} of {kind} is not known: the rules may miss faults in this object");
        findings.add_with_severity(Severity::Info, path, message, fix);
    }
}

/// Order of versions: a beta follows every alpha, and a stable version every beta (Kubernetes documentation,
/// CustomResourceDefinition versioning). A text of another form comes last.
fn order_of_api_version(version: &str) -> (u32, u32, u32) {
    let parse = || {
        let rest = version.strip_prefix('v')?;
        let (stage, major, minor) = match (rest.split_once("alpha"), rest.split_once("beta")) {
            (Some((major, minor)), _) => (1, major, minor),
            (None, Some((major, minor))) => (2, major, minor),
            (None, None) => (3, rest, "0"),
        };
        Some((stage, major.parse().ok()?, minor.parse().ok()?))
    };
    parse().unwrap_or((u32::MAX, 0, 0))
}

#[cfg(test)]
mod tests {
    use super::order_of_api_version;

    #[test]
    fn versions_in_order() {
        let order = ["v1alpha1", "v1alpha2", "v2alpha1", "v1beta1", "v2beta1", "v1", "v2", "next"];
        assert!(order.is_sorted_by(|a, b| order_of_api_version(a) < order_of_api_version(b)));
    }
}

//! FAB416: NCCL setting that works around a fault and may cost bandwidth.

use crate::nccl::numbers_as_nccl_reads::{has_unknown_part, leading_number, starts_with_no_number};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting};

pub(super) static RULE: Rule = Rule {
    id: "FAB416",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "a measurement on this cluster may justify the setting")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let profile = context.resolution.profile().map(|(p, _)| p);
    for variables in context.variables() {
        let own = |name: &str| {
            let planned = profile.is_some_and(|p| p.env.iter().any(|e| *e.name == *name));
            variables.own_setting_that_counts(name).filter(|_| !planned)
        };
        let is = |name: &str, wanted: i64| own(name).filter(|g| number(g) == Some(wanted));
        if let Some(given) = is("NCCL_P2P_DISABLE", 1)
            .filter(|_| context.subject.demands.of_app_container(variables.index).whole > 1)
        {
            findings.add(
                variables.pointer_of_setting(given),
                format!(
                    "NCCL_P2P_DISABLE=1{}: accelerators communicate through the node's memory, which is slower",
                    variables.place_in_words(given)
                ),
                "Remove NCCL_P2P_DISABLE. If the job then fails, check PCIe access control (ACS) on the node.",
            );
        }
        let pinned = |name: &str| {
            let value = |g: &&VariableSetting<'_>| {
                g.value
                    .as_deref()
                    .is_some_and(|v| !v.is_empty() && !has_unknown_part(v) && !v.starts_with('^'))
            };
            own(name).filter(value).filter(|_| !has_tcpx_settings(variables))
        };
        let found: Vec<&VariableSetting<'_>> = [
            is("NCCL_SHM_DISABLE", 1),
            is("NCCL_NVLS_ENABLE", 0),
            is("NCCL_PXN_DISABLE", 1),
            is("NCCL_CUMEM_ENABLE", 0),
            pinned("NCCL_ALGO"),
            pinned("NCCL_PROTO"),
            pinned("NCCL_GRAPH_FILE"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let Some(first) = found.first() else { continue };
        let set = |g: &&VariableSetting<'_>| {
            format!("{}={}", g.name, crate::text::escaped_and_cut(g.value.as_deref().unwrap_or("?"), 12))
        };
        let names: Vec<String> = found.iter().take(4).map(set).collect();
        findings.add_with_severity(
            Severity::Info,
            variables.pointer_of_setting(first),
            format!(
                "{}{}: overriding NCCL's own choice may cost bandwidth",
                names.join(", "),
                variables.place_in_words(first)
            ),
            "Keep only settings that a measurement on this cluster justifies.",
        );
    }
}

/// A number that NCCL reads from a value, where the value is one.
fn number(given: &VariableSetting<'_>) -> Option<i64> {
    let value = given
        .value
        .as_deref()
        .filter(|v| !v.is_empty() && !has_unknown_part(v) && !starts_with_no_number(v))?;
    Some(leading_number(value))
}

fn has_tcpx_settings(variables: &ContainerVariables<'_>) -> bool {
    variables.own_settings().any(|g| g.known.is_some_and(|k| matches!(k.family, "gke-tcpx" | "gke-tcpxo")))
}

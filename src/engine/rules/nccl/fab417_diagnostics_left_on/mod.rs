//! FAB417: NCCL diagnostics that were left on.

use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting};

pub(super) static RULE: Rule = Rule {
    id: "FAB417",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the setting affects only logs and files of the job")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        let set = |name: &str| {
            variables
                .own_setting_that_counts(name)
                .filter(|g| g.value.as_deref().is_none_or(|v| !v.is_empty()))
        };
        for (name, severity, does) in [
            (
                "NCCL_TOPO_DUMP_FILE",
                Severity::Warning,
                "when NCCL dumps the topology, it does not fuse NICs and runs slower",
            ),
            ("NCCL_GRAPH_DUMP_FILE", Severity::Info, "one rank of every job writes to the same file"),
        ] {
            if let Some(given) = set(name) {
                let message = format!("{name}{}: {does}", variables.place_in_words(given));
                findings.add_with_severity(
                    severity,
                    variables.pointer_of_setting(given),
                    message,
                    format!("Remove {name} once the dump exists."),
                );
            }
        }
        report_verbose_logging(variables, findings);
        let several = context.subject.demands.of_app_container(variables.index).whole > 1;
        let one_file = |g: &&VariableSetting<'_>| {
            g.value.as_deref().is_some_and(|v| {
                !v.is_empty() && !v.contains("%p") && !has_unknown_part(v) && !v.starts_with("/dev/")
            })
        };
        if let Some(given) =
            variables.own_setting_that_counts("NCCL_DEBUG_FILE").filter(one_file).filter(|_| several)
        {
            findings.add_with_severity(
                Severity::Info,
                variables.pointer_of_setting(given),
                format!(
                    "NCCL_DEBUG_FILE has no %p{}: the ranks of this container overwrite each other's log",
                    variables.place_in_words(given)
                ),
                "Add %h and %p to the file name.",
            );
        }
    }
}

fn report_verbose_logging(variables: &ContainerVariables<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(given) = variables.own_setting_that_counts("NCCL_DEBUG") else { return };
    let level = given.value.as_deref().unwrap_or_default();
    let trace = level.eq_ignore_ascii_case("TRACE");
    let all = |v: &str| v.split(',').any(|w| w.eq_ignore_ascii_case("ALL"));
    let all = level.eq_ignore_ascii_case("INFO")
        && variables.value_that_counts("NCCL_DEBUG_SUBSYS").is_some_and(all);
    if trace || all {
        let what = if trace { "NCCL_DEBUG=TRACE" } else { "NCCL_DEBUG=INFO for all subsystems" };
        findings.add_with_severity(
            Severity::Info,
            variables.pointer_of_setting(given),
            format!("{what}{} fills the log of a long job", variables.place_in_words(given)),
            "Write WARN, or INFO with NCCL_DEBUG_SUBSYS=INIT,NET.",
        );
    }
}

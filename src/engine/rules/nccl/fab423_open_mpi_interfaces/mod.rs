//! FAB423: Open MPI interface settings that conflict or use the loopback.

use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB423", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        for (include, exclude) in [
            ("OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude"),
            ("OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_oob_tcp_if_exclude"),
        ] {
            let Some(given) = variables.own_setting_that_counts(exclude) else {
                continue;
            };
            let Some(value) = given.value.as_deref().filter(|v| !v.is_empty() && !has_unknown_part(v)) else {
                continue;
            };
            let place = variables.place_in_words(given);
            let loopback = |item: &str| item.starts_with("lo") || item.starts_with("127.");
            if variables
                .setting_that_counts(include)
                .is_some_and(|g| g.value.as_deref().is_none_or(|v| !v.is_empty()))
            {
                findings.add(
                    variables.pointer_of_setting(given),
                    format!("{exclude}{place} and {include} are both set: Open MPI refuses the combination"),
                    format!("Remove {exclude}."),
                );
            } else if !value.split(',').map(str::trim).any(loopback) {
                findings.add(
                    variables.pointer_of_setting(given),
                    format!(
                        "{exclude}={}{place} does not exclude lo: other ranks get address 127.0.0.1, and the job hangs",
                        escaped_and_cut(value, 40)
                    ),
                    "Add lo to the list.",
                );
            }
        }
    }
}

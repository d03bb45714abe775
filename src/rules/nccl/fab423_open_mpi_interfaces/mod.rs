//! FAB423: Open MPI's choice of interfaces contradicts itself or uses the loopback.

use crate::nccl::number::is_open;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule =
    Rule { id: "FAB423", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for spoken in context.spoken() {
        for (include, exclude) in [
            ("OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude"),
            ("OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_oob_tcp_if_exclude"),
        ] {
            let Some(given) = spoken.said(exclude) else {
                continue;
            };
            let Some(value) = given.value.as_deref().filter(|v| !v.is_empty() && !is_open(v)) else {
                continue;
            };
            let place = spoken.place(given);
            let loopback = |item: &str| item.starts_with("lo") || item.starts_with("127.");
            if spoken.last(include).is_some_and(|g| g.value.as_deref().is_none_or(|v| !v.is_empty())) {
                findings.add(
                    spoken.path(given),
                    format!("{exclude}{place} beside {include}: Open MPI takes one of them alone"),
                    format!("drop {exclude}"),
                );
            } else if !value.split(',').map(str::trim).any(loopback) {
                findings.add(
                    spoken.path(given),
                    format!("{exclude}={}{place}: the loopback is used then", printable(value, 40)),
                    "add lo",
                );
            }
        }
    }
}

//! FAB601: NCCL settings that disable the network plugin of the fabric.

use super::efa::{EFA, own_or_planned_value, variable_path};
use crate::plan::Edit;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB601",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, "the author may use the devices only for another library, and run NCCL over TCP"),
        (Severity::Info, "the variables do no harm"),
    ],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in context.app_containers_in_time() {
        let set = |name| own_or_planned_value(context, index, container, name);
        let efa = context.overlay.final_units_in_limits(index, container, EFA) > 0;
        let without = set("NCCL_NET_PLUGIN").is_some_and(|v| v.eq_ignore_ascii_case("none"));
        if !efa && !without {
            continue;
        }
        let net = set("NCCL_NET").unwrap_or_default();
        if without && is_transport_of_plugin(net) {
            findings.add(
                variable_path(index, container, "NCCL_NET_PLUGIN"),
                format!(
                    "NCCL_NET_PLUGIN=none keeps NCCL from loading the plugin that NCCL_NET={} needs",
                    escaped_and_cut(net, 30)
                ),
                "Remove NCCL_NET_PLUGIN.",
            );
            continue;
        }
        if !efa || context.has_verbs_device(index) {
            continue;
        }
        let name = if net.eq_ignore_ascii_case("IB") { "NCCL_NET" } else { "NCCL_NET_PLUGIN" };
        if name == "NCCL_NET" || without {
            // Without the plugin NCCL runs over TCP. The author may want this if another library uses the devices.
            let severity = if name == "NCCL_NET" { Severity::Error } else { Severity::Warning };
            findings.add_with_severity(
                severity,
                variable_path(index, container, name),
                format!("{name} keeps NCCL from using the EFA plugin: the EFA devices stay unused"),
                format!("Remove {name}."),
            );
        }
        let idle = |name: &str| name.starts_with("NCCL_IB_") && name != "NCCL_IB_DISABLE";
        let own = container.env().iter().enumerate().find_map(|(at, entry)| {
            let name = entry.name.as_deref().filter(|name| idle(name))?;
            Some((pointers_in_pod::in_container(index, format_args!("env/{at}")), name))
        });
        let mut planned =
            context.plan.changes_of_container(index).iter().filter_map(|change| match &change.edit {
                edit @ Edit::Env { name, .. } if idle(name) => Some((edit.path(), &**name)),
                _ => None,
            });
        if let Some((path, name)) = own.or_else(|| planned.next()) {
            findings.add_with_severity(
                Severity::Info,
                path,
                format!("{} has no effect: EFA does not use NCCL's own transport", escaped_and_cut(name, 60)),
                "Remove the variables that start with NCCL_IB_.",
            );
        }
    }
}

/// Whether a value of `NCCL_NET` is the name of a transport that only a plugin has.
fn is_transport_of_plugin(net: &str) -> bool {
    let names = ["gIB", "FasTrak", "Libfabric", "AWS Libfabric"];
    names.iter().any(|name| net.eq_ignore_ascii_case(name))
        || net.get(..13).is_some_and(|start| start.eq_ignore_ascii_case("GPUDirectTCPX"))
}

//! FAB359: MacvlanNetwork or IPoIBNetwork without a master interface, or with a master of the wrong link type.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::networks::master_interface::{
    DEFAULT_ROUTE, KNOWN_ONLY_BY_NAME, OTHER_NODES, fault_of_master_interface,
};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{IPOIB_NETWORK, MACVLAN_NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB359",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, OTHER_NODES),
        (Severity::Warning, KNOWN_ONLY_BY_NAME),
        (Severity::Warning, DEFAULT_ROUTE),
    ],
    files: files!(),
    kinds: &[MACVLAN_NETWORK, IPOIB_NETWORK],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(object) = context.whole_object() else { return };
    let master = object.pointer("/spec/master");
    // FAB809 reports a value of another type.
    if master.is_some_and(|m| !m.is_string() && !m.is_null())
        || !object.get("spec").is_some_and(Value::is_object)
    {
        return;
    }
    let cni_type = if context.kind == "IPoIBNetwork" { "ipoib" } else { "macvlan" };
    let master = master.and_then(Value::as_str).filter(|m| !m.is_empty());
    if let Some(fault) = fault_of_master_interface(context, cni_type, master) {
        findings.with_reason_for_lower_severity(fault.because).add_with_severity(
            fault.severity,
            "/spec/master",
            fault.message,
            fault.fix,
        );
    }
}

fn cel() -> Cel {
    let none = |kind: &str| {
        format!(
            "object.kind == '{kind}' && has(object.spec) && type(object.spec) == map &&\n\
                 variables.spec.?master.orValue('') == ''"
        )
    };
    let checks = vec![
        CelCheck::error(
            none("IPoIBNetwork"),
            "`master` is not set: plugin ipoib has no default for this field, so every attachment fails; set master to the nodes' InfiniBand interface",
        ),
        CelCheck::warning(
            none("MacvlanNetwork"),
            "`master` is not set: macvlan uses the interface of the default route, often the management NIC; set master to the fabric's interface",
        ),
    ];
    Cel { variables: Vec::new(), checks, beyond: Some("the link type of the master") }
}

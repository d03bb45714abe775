//! FAB359: MacvlanNetwork or IPoIBNetwork over no interface, or over one of the other kind.

use crate::rules::cel::{Cel, Check};
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::{IPOIB_NETWORK, MACVLAN_NETWORK};
use crate::rules::networks::masters::judge;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB359",
    severity: Severity::Error,
    files: files!(),
    kinds: &[MACVLAN_NETWORK, IPOIB_NETWORK],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(object) = context.value() else { return };
    let master = object.pointer("/spec/master");
    // A value of another type is FAB809's.
    if master.is_some_and(|m| !m.is_string() && !m.is_null())
        || !object.get("spec").is_some_and(Value::is_object)
    {
        return;
    }
    let cni_type = if context.kind == "IPoIBNetwork" { "ipoib" } else { "macvlan" };
    let master = master.and_then(Value::as_str).filter(|m| !m.is_empty());
    if let Some((severity, message, fix)) = judge(context, cni_type, master) {
        findings.add_as(severity, "/spec/master", message, fix);
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
        Check::error(
            none("IPoIBNetwork"),
            "ipoib has no default for its interface: without `master` every attachment fails; name the InfiniBand \
                 interface of the nodes",
        ),
        Check::warning(
            none("MacvlanNetwork"),
            "macvlan without `master` is over the interface of the default route, the management NIC; name the \
                 fabric's interface",
        ),
    ];
    Cel { variables: Vec::new(), checks, beyond: Some("what kind of interface the master is") }
}

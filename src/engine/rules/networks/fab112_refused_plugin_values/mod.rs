//! FAB112: value that sriov, ib-sriov or ib-kubernetes refuses.

use crate::rules::definition::Plugin;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB112",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "ib-kubernetes or another program may read the value")],
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    ..Rule::DEFAULT
};

/// A fault: key, what is wrong, what to write.
type RefusedValue = (&'static str, String, &'static str);

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(definition) = context.definition() else { return };
    for plugin in definition.plugins() {
        let (severity, faults) = match plugin.cni_type {
            "sriov" => (Severity::Error, sriov(&plugin)),
            "ib-sriov" => (Severity::Error, words(&plugin)),
            _ => continue,
        };
        let of_pkey = if plugin.cni_type == "ib-sriov" { pkey(&plugin) } else { None };
        let all = faults.into_iter().map(|f| (severity, f)).chain(of_pkey.map(|f| (Severity::Warning, f)));
        for (severity, (key, message, fix)) in all {
            definition.report(findings, severity, &format!("{}/{key}", plugin.pointer), message, fix);
        }
    }
}

/// Go's decoder treats `null` as a missing key.
fn present<'a>(plugin: &Plugin<'a>, key: &str) -> Option<&'a Value> {
    plugin.object.get(key).filter(|v| !v.is_null())
}

fn sriov(plugin: &Plugin<'_>) -> Vec<RefusedValue> {
    let number = |key: &str| present(plugin, key).and_then(Value::as_i64);
    let vlan = number("vlan");
    let mut faults = words(plugin);
    if let Some(n) = vlan.filter(|n| !(0..=4094).contains(n)) {
        faults.push(("vlan", format!("vlan {n}: sriov accepts 0 to 4094"), "Write an id from 0 to 4094."));
    }
    let tagged = vlan.is_some_and(|n| n != 0);
    if let Some(n) = number("vlanQoS") {
        if !(0..=7).contains(&n) {
            faults.push((
                "vlanQoS",
                format!("vlanQoS {n}: sriov accepts 0 to 7"),
                "Write a priority from 0 to 7.",
            ));
        } else if vlan.is_none() || (n != 0 && !tagged) {
            faults.push((
                "vlanQoS",
                format!("vlanQoS {n} without a VLAN: sriov refuses it"),
                "Set vlan as well.",
            ));
        }
    }
    if let Some(proto) = plugin.text("vlanProto") {
        let known = ["802.1q", "802.1ad"].iter().find(|p| p.eq_ignore_ascii_case(proto));
        let shown = printable(proto, 40);
        match known {
            None => faults.push((
                "vlanProto",
                format!("vlanProto {shown:?}: sriov accepts 802.1q and 802.1ad"),
                "Write 802.1q or 802.1ad.",
            )),
            Some(p) if vlan.is_none() || (*p == "802.1ad" && !tagged) => {
                faults.push((
                    "vlanProto",
                    format!("vlanProto {p} without a VLAN: sriov refuses it"),
                    "Set vlan as well.",
                ));
            }
            Some(_) => {}
        }
    }
    faults
}

/// The one key with a closed set of words: of `spoofchk` and `trust` every text but `on` is off (sriov-cni
/// pkg/sriov/sriov.go).
fn words(plugin: &Plugin<'_>) -> Vec<RefusedValue> {
    let key = "link_state";
    let Some(value) = plugin.text(key).filter(|v| !matches!(*v, "auto" | "enable" | "disable")) else {
        return Vec::new();
    };
    let message =
        format!("{key} {:?}: {} accepts auto, enable, disable", printable(value, 40), plugin.cni_type);
    vec![(key, message, "Write auto, enable or disable, in lower case.")]
}

fn pkey(plugin: &Plugin<'_>) -> Option<RefusedValue> {
    let value = plugin.text("pkey")?;
    let digits = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
    let number = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
    let shown = printable(value, 40);
    // ib-kubernetes reads it of every ib-sriov network, whatever ibKubernetesEnabled says (pkg/utils/utils.go).
    number.is_none_or(|n| n > 0x7fff).then(|| {
        (
            "pkey",
            format!("pkey {shown:?}: ib-kubernetes reads a hexadecimal number of 15 bits, 0x0 to 0x7fff"),
            "Write 0x and hexadecimal digits, without the membership bit.",
        )
    })
}

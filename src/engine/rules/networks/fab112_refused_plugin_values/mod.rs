//! FAB112: value that a CNI plugin or ib-kubernetes refuses.

use crate::rules::cni_config_of_network_definition::PluginInDefinition;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::report_fields_crd_refuses::values_plugin_refuses;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB112",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, UNREAD_PKEY),
        (Severity::Warning, SWITCHED_OFF),
        (Severity::Warning, OLD_KERNEL),
    ],
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    ..Rule::DEFAULT
};

const UNREAD_PKEY: &str = "the port comes up, but without the InfiniBand partition";
const SWITCHED_OFF: &str = "the VF works, although the setting is off";
const OLD_KERNEL: &str = "kernels before 5.19 accept the rates";

/// A fault: the key, the message and the fix.
type KeyMessageAndFix = (&'static str, String, &'static str);

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(definition) = context.cni_configuration() else { return };
    for plugin in definition.plugins() {
        if findings.must_stop_reporting() {
            return;
        }
        for (below, message, fix) in values_plugin_refuses(plugin.cni_type, plugin.object) {
            let pointer = format!("{}{below}", plugin.pointer());
            definition.report_in_configuration(findings, Severity::Error, &pointer, message, fix);
        }
        let others = match plugin.cni_type {
            "sriov" => values_sriov_refuses_together(&plugin),
            "ib-sriov" => refused_pkey(&plugin).into_iter().map(|fault| (Some(UNREAD_PKEY), fault)).collect(),
            _ => continue,
        };
        for (lower, (key, message, fix)) in others {
            let pointer = format!("{}/{key}", plugin.pointer());
            match lower {
                Some(reason) => {
                    let findings = &mut findings.with_reason_for_lower_severity(reason);
                    definition.report_in_configuration(findings, Severity::Warning, &pointer, message, fix);
                }
                None => definition.report_in_configuration(findings, Severity::Error, &pointer, message, fix),
            }
        }
    }
}

/// Go's decoder treats `null` as a missing key.
fn value_unless_null<'a>(plugin: &PluginInDefinition<'a>, key: &str) -> Option<&'a Value> {
    plugin.object.get(key).filter(|v| !v.is_null())
}

/// Values that sriov refuses only together with other values (k8snetworkplumbingwg/sriov-cni pkg/config/config.go).
/// Each has a reason if it is only a warning.
fn values_sriov_refuses_together(
    plugin: &PluginInDefinition<'_>,
) -> Vec<(Option<&'static str>, KeyMessageAndFix)> {
    let number = |key: &str| value_unless_null(plugin, key).and_then(Value::as_i64);
    let missing = value_unless_null(plugin, "vlan").is_none();
    let untagged = missing || number("vlan") == Some(0);
    let mut faults = Vec::new();
    if let Some(n) = number("vlanQoS").filter(|n| missing || *n != 0 && untagged) {
        let message = format!(
            "vlanQoS is {n}, but no VLAN is set: plugin sriov refuses the configuration, and pods stay in ContainerCreating"
        );
        faults.push((None, ("vlanQoS", message, "Set vlan to a number from 1 to 4094.")));
    }
    let double = |proto: &&str| missing || proto.eq_ignore_ascii_case("802.1ad") && untagged;
    if let Some(proto) = plugin.text("vlanProto").filter(double) {
        let message = format!(
            "vlanProto is {}, but no VLAN is set: plugin sriov refuses the configuration, and pods stay in ContainerCreating",
            escaped_and_cut(proto, 40)
        );
        faults.push((None, ("vlanProto", message, "Set vlan to a number from 1 to 4094.")));
    }
    // pkg/sriov/sriov.go, ApplyVFConfig.
    for key in ["spoofchk", "trust"] {
        if let Some(word) = plugin.text(key).filter(|word| !matches!(*word, "on" | "off")) {
            let message = format!(
                "{key} is {:?}: plugin sriov switches {key} off for every value except \"on\"",
                escaped_and_cut(word, 40)
            );
            faults.push((Some(SWITCHED_OFF), (key, message, "Write \"on\" or \"off\".")));
        }
    }
    // Since 5.19 the kernel refuses a min rate above the max rate (net/core/rtnetlink.c, rtnl_set_vf_rate). 0 is no
    // limit.
    let most = number("max_tx_rate").filter(|most| *most > 0);
    if let (Some(least), Some(most)) = (number("min_tx_rate"), most)
        && least > most
    {
        let message = format!(
            "min_tx_rate {least} is higher than max_tx_rate {most}: the kernel refuses these rates, and pods stay in ContainerCreating"
        );
        faults.push((Some(OLD_KERNEL), ("min_tx_rate", message, "Set min_tx_rate to max_tx_rate or less.")));
    }
    faults
}

fn refused_pkey(plugin: &PluginInDefinition<'_>) -> Option<KeyMessageAndFix> {
    let value = plugin.text("pkey")?;
    let digits = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
    let number = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
    let shown = escaped_and_cut(value, 40);
    // ib-kubernetes reads the pkey of every ib-sriov network, whatever ibKubernetesEnabled is (pkg/utils/utils.go).
    number.is_none_or(|n| n > 0x7fff).then(|| {
        (
            "pkey",
            format!(
                "pkey {shown:?} is not a number from 0x0 to 0x7fff with 0x: ib-kubernetes cannot read this pkey"
            ),
            "Write 0x and hexadecimal digits without the membership bit, such as 0x10.",
        )
    })
}

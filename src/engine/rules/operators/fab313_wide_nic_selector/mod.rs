//! FAB313: SriovNetworkNodePolicy that selects NICs only by vendor or model.

use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use super::supported_nics;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{self, Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB313",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let nics = &policy.nics;
    if !nics.interfaces.is_empty() || !nics.addresses.is_empty() || nics.net_filter.is_some() {
        return;
    }
    let vendor = nics.vendor.as_deref();
    let fix = "Add pfNames or rootDevices.";
    match (&nics.device_id, vendor) {
        (None, Some(vendor)) => findings.add(
            "/spec/nicSelector",
            format!("nicSelector names only vendor {vendor}: the pool takes every NIC of this vendor, also storage and management NICs"),
            fix,
        ),
        (Some(device), _) => {
            let Some(own) = supported_nics::models_of_vendor(vendor).find(|m| m.physical == device) else { return };
            let shares = |m: &&supported_nics::Model| shares_function(own, m);
            let others: Vec<&str> = supported_nics::models_of_vendor(Some(own.vendor)).filter(shares).map(|m| m.name).collect();
            let Some(other) = others.last() else { return };
            findings.add(
                "/spec/nicSelector",
                format!(
                    "nicSelector names only deviceID {device} ({0}), whose VFs have device ID {1}; VFs of {other} and others have it too: the pool may take VFs of other NICs",
                    own.name, own.function
                ),
                fix,
            );
        }
        (None, None) => {}
    }
}

fn cel() -> Cel {
    let unnamed = "!variables.byName && variables.netFilter == ''";
    let vendor = format!("{unnamed} && variables.deviceID == '' && variables.vendor != ''");
    let model = format!(
        "{unnamed} && variables.deviceID != '' &&\nvariables.vendor + '/' + variables.deviceID in {}",
        rules_in_cel::literals(&supported_nics::ids_of_physical_functions(|own| {
            supported_nics::MODELS.iter().any(|m| m.vendor == own.vendor && shares_function(own, m))
        }))
    );
    cel_with_policy_variables(vec![
        CelCheck::warning(
            condition_unless_named_default(&vendor),
            "nicSelector names only a vendor: the pool takes every NIC of this vendor, also storage and management NICs; \
                 add pfNames or rootDevices",
        ),
        CelCheck::warning(
            condition_unless_named_default(&model),
            "nicSelector names only a deviceID, and its VFs have the same ID as VFs of other models: the pool may take VFs of other NICs; add pfNames or rootDevices",
        ),
    ])
}

/// Whether VFs of two models of a vendor have one identifier.
fn shares_function(own: &supported_nics::Model, other: &supported_nics::Model) -> bool {
    other.function == own.function && other.name != own.name
}

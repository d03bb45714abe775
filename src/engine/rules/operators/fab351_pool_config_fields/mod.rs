//! FAB351: SriovNetworkPoolConfig with conflicting fields or an invalid maxUnavailable.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::POOL_CONFIG;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB351",
    severity: Severity::Error,
    files: files!(),
    kinds: &[POOL_CONFIG],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(spec) = context.whole_object().and_then(|v| v.get("spec")) else { return };
    let given = |field: &str| spec.get(field).filter(|v| !v.is_null());
    if context.non_empty_text_at("/spec/ovsHardwareOffloadConfig/name").is_some() {
        for field in ["maxUnavailable", "nodeSelector"].into_iter().filter(|f| given(f).is_some()) {
            findings.add(
                format!("/spec/{field}"),
                format!("{field} is set together with ovsHardwareOffloadConfig.name: a pool is for offload or for drains, so the operator applies neither setting"),
                "Write two SriovNetworkPoolConfigs, one for each purpose.",
            );
        }
    }
    if let Some(fault) = given("maxUnavailable").and_then(fault_of_max_unavailable) {
        findings.add(
            "/spec/maxUnavailable",
            format!("maxUnavailable {fault}: the operator drains no node of the pool"),
            "Write a number without quotes, such as 1, or a percentage, such as \"20%\".",
        );
    }
}

fn cel() -> Cel {
    let offload = "variables.spec.?ovsHardwareOffloadConfig.?name.orValue('') != '' &&\n\
                       (has(variables.spec.maxUnavailable) && variables.spec.maxUnavailable != null ||\n\
                       has(variables.spec.nodeSelector) && variables.spec.nodeSelector != null)";
    let most = "has(variables.spec.maxUnavailable) && (type(variables.spec.maxUnavailable) == int ?\n\
                    variables.spec.maxUnavailable < 0 :\n\
                    type(variables.spec.maxUnavailable) == string &&\n\
                    !variables.spec.maxUnavailable.matches('^[+]?0*(100|[1-9][0-9]?)%$'))";
    let checks = vec![
        CelCheck::error(
            offload,
            "maxUnavailable or nodeSelector is set together with ovsHardwareOffloadConfig.name: a pool is for offload or for drains, so the operator applies neither setting; write two SriovNetworkPoolConfigs",
        ),
        CelCheck::error(
            most,
            "invalid maxUnavailable: the operator drains no node of the pool; write a number of at least 0, or a text from 1% \
                 to 100%",
        ),
    ];
    Cel { variables: Vec::new(), checks, beyond: None }
}

fn fault_of_max_unavailable(most: &Value) -> Option<&'static str> {
    match most {
        Value::Number(n) => n.as_i64().filter(|n| *n < 0).map(|_| "is below zero"),
        Value::String(text) => {
            let percent = text.strip_suffix('%').map(str::parse::<u32>);
            match percent {
                None => Some("is a text without \"%\""),
                Some(Ok(1..=100)) => None,
                Some(_) => Some("is outside 1% to 100%"),
            }
        }
        // The schema refuses values of other types.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::fault_of_max_unavailable;
    use serde_json::json;

    #[test]
    fn what_can_be_unavailable() {
        for fine in [json!(0), json!(3), json!("1%"), json!("100%"), json!(null)] {
            assert_eq!(fault_of_max_unavailable(&fine), None, "{fine}");
        }
        for wrong in [json!(-1), json!("2"), json!("0%"), json!("101%"), json!("x%"), json!("")] {
            assert!(fault_of_max_unavailable(&wrong).is_some(), "{wrong}");
        }
    }
}

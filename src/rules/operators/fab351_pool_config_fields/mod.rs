//! FAB351: SriovNetworkPoolConfig with fields that exclude each other, or a maxUnavailable that is none.

use crate::rules::cel::{Cel, Check};
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::POOL_CONFIG;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};
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

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(spec) = context.value().and_then(|v| v.get("spec")) else { return };
    let given = |field: &str| spec.get(field).filter(|v| !v.is_null());
    if context.text("/spec/ovsHardwareOffloadConfig/name").is_some() {
        for field in ["maxUnavailable", "nodeSelector"].into_iter().filter(|f| given(f).is_some()) {
            findings.add(
                format!("/spec/{field}"),
                format!("{field} beside ovsHardwareOffloadConfig.name: a pool is for one of them, the operator refuses both"),
                "two SriovNetworkPoolConfigs",
            );
        }
    }
    if let Some(fault) = given("maxUnavailable").and_then(fault) {
        findings.add(
            "/spec/maxUnavailable",
            format!("maxUnavailable cannot be read: {fault}; no node of the pool is drained"),
            "a number such as 1, or a text such as \"20%\"",
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
        Check::error(
            offload,
            "maxUnavailable or nodeSelector beside ovsHardwareOffloadConfig.name: a pool is for one of them, the \
                 operator refuses both; two SriovNetworkPoolConfigs",
        ),
        Check::error(
            most,
            "maxUnavailable cannot be read, no node of the pool is drained; write a number from 0, or a text from 1% \
                 to 100%",
        ),
    ];
    Cel { variables: Vec::new(), checks, beyond: None }
}

fn fault(most: &Value) -> Option<&'static str> {
    match most {
        Value::Number(n) => n.as_i64().filter(|n| *n < 0).map(|_| "it is below zero"),
        Value::String(text) => {
            let percent = text.strip_suffix('%').map(str::parse::<u32>);
            match percent {
                None => Some("a text is a percentage, a number stands without quotes"),
                Some(Ok(1..=100)) => None,
                Some(_) => Some("a percentage is from 1% to 100%"),
            }
        }
        // Values of other types are refused by the schema.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::fault;
    use serde_json::json;

    #[test]
    fn what_can_be_unavailable() {
        for fine in [json!(0), json!(3), json!("1%"), json!("100%"), json!(null)] {
            assert_eq!(fault(&fine), None, "{fine}");
        }
        for wrong in [json!(-1), json!("2"), json!("0%"), json!("101%"), json!("x%"), json!("")] {
            assert!(fault(&wrong).is_some(), "{wrong}");
        }
    }
}

//! FAB103: NetworkAttachmentDefinition with an invalid CNI configuration.

use crate::facts::network::NetworkObject;
use crate::json::go::CNI;
use crate::multus::cni::{CniConfig, ConfigError};
use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::embedded;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::object::ObjectContext;
use crate::rules::place_in_json_text::locate;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB103",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    // FAB809 reports values of other types.
    let Ok(object) = crate::json::decode::object::<NetworkObject>(context.json) else { return };
    // If the object has no `config`, Multus reads a file on the node. Istio sets up its plugin in this way.
    let Some(text) = object.config() else { return };
    let Err(error) = CniConfig::parse(text) else { return };
    let (spot, what) = match embedded::object(text, CNI) {
        Err(fault) => (fault.spot, fault.to_string()),
        Ok(_) => {
            let at = match error {
                ConfigError::NoType(index) => format!("/plugins/{index}"),
                _ => String::new(),
            };
            (locate(text, &at, CNI), error.to_string())
        }
    };
    findings.add_within(
        "/spec/config",
        spot,
        format!(
            "Multus cannot use the CNI configuration ({what}): pods of the network stay in ContainerCreating"
        ),
        "Write a JSON object with `type`, or with `plugins` whose items have `type`.",
    );
}

fn cel() -> Cel {
    let config =
        "type(variables.spec.?config.orValue('')) == string ? variables.spec.?config.orValue('') : '{}'";
    let wrong = r#"variables.config != '' && (!variables.config.matches('^[ \\t\\r\\n]*[{]') ||
!variables.config.contains('"type"') && !variables.config.contains('\\u'))"#;
    let broken = Check {
        severity: Severity::Error,
        wrong: Wrong::Object(wrong.into()),
        message: "the CNI configuration is not a JSON object with a `type`: pods that use the network stay in ContainerCreating; write a JSON object that has `type`, or `plugins` that each have `type`",
    };
    Cel {
        variables: vec![("config", config.into())],
        checks: vec![broken],
        beyond: Some("JSON that starts with `{` but is not valid, and items of `plugins` without a type"),
    }
}

//! FAB103: NetworkAttachmentDefinition with an invalid CNI configuration.

use crate::facts::network_of_one_object::NetworkObject;
use crate::json::as_go_reads::CNI_FIELDS;
use crate::multus::cni_config::{CniConfig, ConfigError};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::json_in_text_fields;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::place_in_json_text::locate;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck, CelCondition};
use crate::text::refuse_long_cni_document;

pub(super) static RULE: Rule = Rule {
    id: "FAB103",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // FAB809 reports values of other types.
    let Ok(object) = crate::json::decode_with_place::decode_object::<NetworkObject>(context.json) else {
        return;
    };
    // If the object has no `config`, Multus reads a file on the node. Istio sets up its plugin in this way.
    let Some(text) = object.config() else { return };
    // Multus has no such limit.
    if refuse_long_cni_document(text).is_err() {
        return;
    }
    let Err(error) = CniConfig::parse(text) else { return };
    let (spot, what) = match json_in_text_fields::read_cni_object(text) {
        Err(fault) => (fault.spot, fault.to_string()),
        Ok(_) => {
            let at = match error {
                ConfigError::NoType(index) => format!("/plugins/{index}"),
                _ => String::new(),
            };
            (locate(text, &at, CNI_FIELDS), error.to_string())
        }
    };
    findings.add_in_text(
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
    let broken = CelCheck {
        severity: Severity::Error,
        wrong: CelCondition::Object(wrong.into()),
        message: "the CNI configuration is not a JSON object with a `type`: pods that use the network stay in ContainerCreating; write a JSON object that has `type`, or `plugins` that each have `type`",
    };
    Cel {
        variables: vec![("config", config.into())],
        checks: vec![broken],
        beyond: Some("JSON that starts with `{` but is not valid, and items of `plugins` without a type"),
    }
}

//! FAB103: the CNI configuration of a NetworkAttachmentDefinition.

use crate::facts::network::NetworkObject;
use crate::json::go::CNI;
use crate::multus::cni::{CniConfig, ConfigError};
use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::embedded;
use crate::rules::locate::locate;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB103.
pub(super) struct CniConfiguration;

static CNI_CONFIGURATION: Meta = Meta {
    id: "FAB103",
    severity: Severity::Error,
    summary: "NetworkAttachmentDefinition with a CNI configuration that cannot be called",
    what: "Reads `spec.config` as Multus does: a JSON object with a `type`, or with a list of `plugins` that have one \
           each. A missing or empty configuration is a warning: Multus then looks for a file of the network's name on \
           each node, which cannot be seen from here.",
    why: "Multus fails the sandbox of every pod that asks for the network (`error unmarshalling delegate config`, \
          `delegate must have the 'type' or 'plugin' field`); the pods stay in ContainerCreating.",
    fix: "Mend the JSON; name the plugin with `type`, or list several below `plugins`.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: '{"cniVersion": "1.0.0", "name": "rdma-net", "plugins": [{"ipam": {}}]}'
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: '{"cniVersion": "1.0.0", "name": "rdma-net", "plugins": [{"type": "sriov", "ipam": {}}]}'
"#,
    sources: &["k8snetworkplumbingwg/multus-cni pkg/types/conf.go (LoadDelegateNetConf)"],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition")],
    also: &["NAD-001", "NAD-002", "NAD-003"],
    waiver: Waiver::Allowed,
};

impl Rule for CniConfiguration {
    fn meta(&self) -> &'static Meta {
        &CNI_CONFIGURATION
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        // Values of other types are FAB809's.
        let Ok(object) = crate::json::decode::object::<NetworkObject>(context.json) else { return };
        match object.config().map(CniConfig::parse) {
            None => findings.add_as(
                Severity::Warning,
                "/spec/config",
                "no CNI configuration: Multus reads a file of this name on each node, what it says is unknown",
                "write the configuration into spec.config",
            ),
            Some(Err(error)) => {
                let text = object.config().unwrap_or_default();
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
                    format!("Multus cannot use the CNI configuration: {what}; pods that ask for the network never start"),
                    "write a JSON object with `type`, or with `plugins` that have one each",
                );
            }
            Some(Ok(_)) => {}
        }
    }
    fn cel(&self) -> Option<Cel> {
        let config =
            "type(variables.spec.?config.orValue('')) == string ? variables.spec.?config.orValue('') : '{}'";
        let wrong = r#"variables.config != '' && (!variables.config.matches('^[ \\t\\r\\n]*[{]') ||
!variables.config.contains('"type"') && !variables.config.contains('\\u'))"#;
        let broken = Check {
            severity: Severity::Error,
            wrong: Wrong::Object(wrong.into()),
            message: "the CNI configuration is no JSON object that names a `type`: pods that ask for the network never \
                      start; write one with `type`, or with `plugins` that have one each",
        };
        let none = Check {
            severity: Severity::Warning,
            wrong: Wrong::Object("variables.config == ''".into()),
            message: "no CNI configuration: Multus reads a file of this name on each node, what it says is unknown; \
                      write the configuration into spec.config",
        };
        Some(Cel {
            variables: vec![("config", config.into())],
            checks: vec![broken, none],
            beyond: Some("JSON that cannot be parsed further in, and plugins of a list without a type"),
        })
    }
}

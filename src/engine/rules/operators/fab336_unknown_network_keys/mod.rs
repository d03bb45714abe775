//! FAB336: unknown key in a SriovNetwork, SriovIBNetwork or OVSNetwork.

use crate::rules::finding::Severity;
use crate::rules::object_kinds::{OVS_NETWORK, SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::report_fields_crd_refuses::report_unknown_keys;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB336",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "a newer version of the kind may have the key")],
    files: files!(),
    kinds: &[SRIOV_NETWORK, SRIOV_IB_NETWORK, OVS_NETWORK],
    object: Some(report_unknown_keys),
    ..Rule::DEFAULT
};

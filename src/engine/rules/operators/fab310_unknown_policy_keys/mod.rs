//! FAB310: unknown key in a SriovNetworkNodePolicy.

use crate::rules::finding::Severity;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::report_fields_crd_refuses::report_unknown_keys;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB310",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "a newer version of the kind may have the key")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(report_unknown_keys),
    ..Rule::DEFAULT
};

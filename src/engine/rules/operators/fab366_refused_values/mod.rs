//! FAB366: value that the CRD does not allow, so the API server refuses the object.

use crate::rules::finding::Severity;
use crate::rules::object_kinds::KINDS_WITH_KNOWN_FIELDS;
use crate::rules::report_fields_crd_refuses::report_refused_values;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB366",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "a newer CRD may allow the value")],
    files: files!(),
    kinds: KINDS_WITH_KNOWN_FIELDS,
    at_one_point: true,
    object: Some(report_refused_values),
    ..Rule::DEFAULT
};

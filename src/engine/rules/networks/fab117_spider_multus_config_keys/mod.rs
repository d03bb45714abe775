//! FAB117: unknown key of a SpiderMultusConfig.

use crate::rules::finding::Severity;
use crate::rules::object_kinds::SPIDER_MULTUS_CONFIG;
use crate::rules::report_fields_crd_refuses::report_unknown_keys;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB117",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "a newer version of the kind may have the key")],
    files: files!(),
    kinds: &[SPIDER_MULTUS_CONFIG],
    object: Some(report_unknown_keys),
    ..Rule::DEFAULT
};

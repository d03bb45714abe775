//! Rules in CEL, for ValidatingAdmissionPolicies, which the API server evaluates itself while the webhook is down.
//!
//! An expression sees one object, and no profile, network or node. So the CEL form of a rule may report less than the rule,
//! and must never report more. Before the API server evaluates policies it has validated the object (k8s.io/apiserver
//! pkg/registry/generic/registry/store.go, Create): quantities are right, and what must be there is.

use super::finding::Severity;
use std::borrow::Cow;

/// A rule, or the part of it that one object shows.
#[derive(Debug)]
pub struct Cel {
    /// Values of the rule's own, by name, in the order in which they use each other.
    pub variables: Vec<(&'static str, Cow<'static, str>)>,
    /// What it finds.
    pub checks: Vec<CelCheck>,
    /// What only the rule itself reports; `None` where the two are the same.
    pub beyond: Option<&'static str>,
}

/// A finding.
#[derive(Debug)]
pub struct CelCheck {
    /// How bad it is.
    pub severity: Severity,
    /// When it reports.
    pub wrong: CelCondition,
    /// What is wrong and what to do: one line, without the rule's id.
    pub message: &'static str,
}

impl CelCheck {
    /// An error where something is true of the object.
    pub fn error(wrong: impl Into<Cow<'static, str>>, message: &'static str) -> Self {
        Self { severity: Severity::Error, wrong: CelCondition::Object(wrong.into()), message }
    }
    /// A warning where something is true of the object.
    pub fn warning(wrong: impl Into<Cow<'static, str>>, message: &'static str) -> Self {
        Self { severity: Severity::Warning, wrong: CelCondition::Object(wrong.into()), message }
    }
}

/// When a check reports.
///
/// Lists are walked with `exists`; `filter` and `map` are for those of which few are left, since CEL copies them with
/// every item.
#[derive(Debug)]
pub enum CelCondition {
    /// Where this is true of the object.
    Object(Cow<'static, str>),
    /// Where this is true of a container, `c`; the message names those.
    Containers(Cow<'static, str>),
    /// Where this is true of an annotation's key, `k`; the message names those.
    Annotations(Cow<'static, str>),
}

/// Variables for expressions on pods. Only those that are used are rendered.
pub const POD_VARIABLES: &[(&str, &str)] = &[
    ("annotations", "has(object.metadata.annotations) ? object.metadata.annotations : {}"),
    ("containers", "object.spec.?containers.orValue([])"),
    ("initContainers", "object.spec.?initContainers.orValue([])"),
    ("volumes", "object.spec.?volumes.orValue([])"),
];

/// Whether a pod is in scope: it has accelerators, or names a profile.
pub const POD_SCOPE: &str = "'fabric-admission.dev/profile' in variables.annotations ||\n\
                             variables.containers.exists(c, {accelerated}) ||\nvariables.initContainers.exists(c, {accelerated})";

/// The same on objects of other kinds. An object without a `spec` has an empty one.
pub const OBJECT_VARIABLES: &[(&str, &str)] = &[
    ("annotations", "has(object.metadata.annotations) ? object.metadata.annotations : {}"),
    ("spec", "has(object.spec) && type(object.spec) == map ? object.spec : {}"),
];

/// Whether container `c` requests a resource whose name, `k`, meets a condition. Requests of extended resources have a
/// limit, which the API server sees to.
#[must_use]
pub fn container_requests_resource(condition: &str) -> String {
    format!(
        "c.?resources.?limits.orValue({{}}).exists(k, ({condition}) && quantity(string(c.resources.limits[k])).isGreaterThan(quantity('0')))"
    )
}

/// A text as a CEL literal.
#[must_use]
pub fn cel_literal(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// A list of literals.
#[must_use]
pub fn literals<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|t| cel_literal(t.as_ref())).collect();
    format!("[{}]", texts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_control_characters_are_escaped() {
        assert_eq!(cel_literal("a'b\\c\n"), r"'a\'b\\c\u000a'");
        assert_eq!(literals(&["x", "y"]), "['x', 'y']");
    }
}

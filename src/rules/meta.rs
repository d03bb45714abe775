//! The fixed part of a rule: its id, its texts, its examples.

use super::severity::Severity;

/// The static part of a rule.
#[derive(Debug)]
pub struct Meta {
    /// `FABnnn`; the first digit is the group. Never reused.
    pub id: &'static str,
    /// The most severe finding it makes.
    pub severity: Severity,
    /// One line.
    pub summary: &'static str,
    /// What it looks at and when it speaks.
    pub what: &'static str,
    /// What breaks, with the sign that is seen in logs or events.
    pub why: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// A manifest it speaks about.
    pub bad: &'static str,
    /// The same manifest put right.
    pub good: &'static str,
    /// Where the fact comes from.
    pub sources: &'static [&'static str],
    /// First version that has it.
    pub since: &'static str,
    /// Group and kind of the objects it checks; empty for rules on pods.
    pub kinds: &'static [(&'static str, &'static str)],
    /// Ids of the same condition in the catalogue of field failures that docs/rules-not-taken.md goes through.
    pub also: &'static [&'static str],
    /// Whether an annotation of the pod may set its findings aside.
    pub waiver: Waiver,
}

/// Whether annotation `fabric-admission.dev/ignore.FABnnn: REASON` sets findings of a rule aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiver {
    /// With a reason; errors only where the profile allows it.
    Allowed,
    /// Never: the rule keeps tenants apart.
    Isolation,
    /// Never: the API server refuses the shape, whatever we say.
    Api,
    /// Never: the rule is about such annotations.
    Itself,
}

impl Meta {
    /// Name of the group that the id belongs to.
    #[must_use]
    pub fn group(&self) -> &'static str {
        match self.id.as_bytes().get(3) {
            Some(b'1') => "networks",
            Some(b'2') => "resources",
            Some(b'3') => "sr-iov and network operator",
            Some(b'4') => "nccl",
            Some(b'5') => "memory and security",
            Some(b'6') => "cloud fabrics",
            Some(b'7') => "placement and capacity",
            _ => "profiles and inputs",
        }
    }
}

impl Waiver {
    /// How findings of a rule are set aside, or why they are not: one sentence.
    #[must_use]
    pub fn words(self, id: &str) -> String {
        match self {
            Self::Allowed => format!(
                "annotation `fabric-admission.dev/ignore.{id}` with the reason as its value; errors only where the profile allows it"
            ),
            Self::Isolation => "never: the rule keeps namespaces apart".to_owned(),
            Self::Api => "never: the API server refuses such an object anyway".to_owned(),
            Self::Itself => "never: the rule is about such annotations".to_owned(),
        }
    }
}

//! How many findings of one rule an object gets, and how long their texts are.

/// Longest message and fix (characters). Texts may quote what a user wrote.
pub(super) const MAX_MESSAGE_LENGTH: usize = 300;
/// Findings of one rule and severity on one object; a pod may have a thousand containers. Each severity has its own limit:
/// otherwise fifty harmless findings would hide an error that denies the pod.
pub(crate) const MAX_FINDINGS_PER_RULE_AND_SEVERITY: usize = 50;

//! How a finding reads for someone who has the file: a value that the profile sets is called so.

use crate::review::Decision;
use crate::rules::Finding;
use std::borrow::Cow;

/// The message of a finding for a reader of the file: if the profile sets the value at its place, the message says so,
/// since the file does not contain it. The webhook does not add this, so that both of its entries warn in the same words.
#[must_use]
pub fn message_with_profile_that_sets_value<'a>(decision: &Decision, finding: &'a Finding) -> Cow<'a, str> {
    match decision.profile.as_deref().filter(|_| decision.plan.adds(&finding.path)) {
        Some(name) if !finding.message.contains(name) => {
            format!("with profile {name:?}, {}", finding.message).into()
        }
        _ => Cow::Borrowed(&finding.message),
    }
}

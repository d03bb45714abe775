//! What the API server requires of the quantity of any resource.

use crate::json::null_as_absent::Quantities;
use crate::pod::{Quantity as Amount, QuantityError};
use crate::text::printable;

/// Why the API server refuses a quantity of any resource, and the fix.
pub(super) fn refused(parsed: Result<Amount, QuantityError>) -> Option<(&'static str, &'static str)> {
    match parsed {
        Err(QuantityError::Placeholder) => Some((
            "is a placeholder that was not replaced",
            "Render the template before you apply the manifest.",
        )),
        Err(QuantityError::Grammar) => Some((
            "is not a Kubernetes quantity",
            "Write a number with an optional suffix, such as 8, 500m or 64Gi.",
        )),
        Ok(q) if q.is_negative() => Some(("is negative", "Write 0 or more.")),
        Ok(_) => None,
    }
}

/// The message and the fix if the request of a resource is above its limit. Extended resources have their own check.
pub(super) fn above_limit(
    name: &str,
    (request, text): (Amount, &str),
    limits: Option<&Quantities<'_>>,
) -> Option<(String, String)> {
    let given = limits.and_then(|l| l.get(name))?;
    if Amount::parse(&given.0).is_ok_and(|limit| limit < request) {
        let (request, limit) = (printable(text, 40), printable(&given.0, 40));
        let message = format!(
            "{name}: the request ({request}) is higher than the limit ({limit}), so the API server refuses the pod"
        );
        return Some((message, format!("Raise the limit to {request}, or lower the request.")));
    }
    None
}

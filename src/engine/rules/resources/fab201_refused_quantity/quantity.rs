//! What the API server requires of the quantity of any resource.

use crate::json::types_of_decoded_fields::Quantities;
use crate::pod::{Quantity as Amount, QuantityError};
use crate::text::escaped_and_cut;

/// Why the API server refuses a quantity of any resource, and the fix.
pub(super) fn why_quantity_is_refused(
    parsed: Result<Amount, QuantityError>,
    is_extended: bool,
) -> Option<(&'static str, &'static str)> {
    match parsed {
        Err(QuantityError::Placeholder) => Some((
            "is a placeholder that was not replaced",
            "Render the template before you apply the manifest.",
        )),
        Err(QuantityError::Grammar) if is_extended => {
            Some(("is not a Kubernetes quantity", "Write a whole number, such as 8."))
        }
        Err(QuantityError::Grammar) => Some((
            "is not a Kubernetes quantity",
            "Write a number with an optional suffix, such as 8, 500m or 64Gi.",
        )),
        Ok(q) if q.is_negative() => Some(("is negative", "Write 0 or more.")),
        Ok(_) => None,
    }
}

/// The message and the fix if the request of a resource is above its limit. Extended resources have their own check.
pub(super) fn problem_if_request_above_limit(
    name: &str,
    (request, text): (Amount, &str),
    limits: Option<&Quantities<'_>>,
) -> Option<(String, String)> {
    let given = limits.and_then(|l| l.get(name))?;
    if Amount::parse(&given.0).is_ok_and(|limit| limit < request) {
        let (request, limit) = (escaped_and_cut(text, 40), escaped_and_cut(&given.0, 40));
        let message = format!(
            "{name}: the request ({request}) is higher than the limit ({limit}), so the API server refuses the pod"
        );
        return Some((message, format!("Raise the limit to {request}, or lower the request.")));
    }
    None
}

//! The resource that a network of the SR-IOV operator names.

use crate::facts::ResourceFact;
use crate::rules::object::ObjectContext;

/// What is known of the resource behind a network.
pub(super) fn resource<'c>(context: &'c ObjectContext<'_>) -> Option<(&'c str, &'c ResourceFact)> {
    let name = context.text("/spec/resourceName")?;
    Some((name, context.snapshot.facts().serves_suffix(name)?))
}

//! Lengths of lists above which an object is not decoded: the webhook answers HTTP 400, a command exits with code 2. Longer
//! lists than in any real pod that can still be decoded are in `pod::limits_and_costs_of_pods`.

/// Most items of a list of structs. Real pods stay far below; without a limit a pod of a few megabytes could take seconds or
/// a hundred megabytes.
pub(super) const MAX_OBJECTS: usize = 10_000;
/// Most resources of one container.
pub(crate) const MAX_RESOURCES: usize = 64;

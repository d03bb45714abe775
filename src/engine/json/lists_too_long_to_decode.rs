//! Lengths of lists above which an object is not decoded: the webhook answers HTTP 400, a command exits with code 2. Longer
//! lists than in any real pod that can still be decoded are in `pod::limits_and_costs_of_pods`.

/// Most items of a list of structs. Real pods stay far below; without a limit a pod of a few megabytes could take seconds or
/// a hundred megabytes.
pub(super) const MAX_OBJECTS: usize = 10_000;
/// Most memory for these items (bytes), without the memory of their own lists and texts. `{}` in a list of containers has
/// three bytes and takes 450. This is enough for 2,000 containers.
pub(super) const MAX_MEMORY_OF_OBJECTS: usize = 1 << 20;
/// Most resources of one container.
pub(crate) const MAX_RESOURCES: usize = 64;
/// Most entries in `limits` and `requests` of all containers of a pod together: 1,000 containers with cpu and memory have 4,000.
/// Each rule on resources looks at all of them.
pub(crate) const MAX_RESOURCES_OF_POD: usize = 8_192;
/// Longest name of a resource of a container (bytes): a DNS name, a slash and a name (k8s.io/apimachinery
/// pkg/util/validation, `IsQualifiedName`).
pub(super) const MAX_RESOURCE_NAME: usize = 253 + 1 + 63;

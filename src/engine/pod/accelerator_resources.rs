//! Which resources are accelerators, and how many whole ones a container requests.

use super::pod_fields::Container;
use crate::json::quantity::Quantity;

/// Names of extended resources that put a pod in scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceleratorNames {
    names: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    text: String,
    prefix: bool,
    /// Whether one unit is a whole accelerator; a MIG slice or a time share is not.
    whole: bool,
    /// Whether it is AWS Neuron, which has its own collectives.
    neuron: bool,
}

/// How many accelerators a container requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AcceleratorsOfContainer {
    /// Whether it requests any, slices and shares included.
    pub any: bool,
    /// Whole accelerators (count); 0 if it requests only slices.
    pub whole: u32,
    /// A quantity that is not a number, such as `$GPUS`: the container requests an unknown number.
    pub unknown: bool,
    /// Whether any of them uses NCCL or RCCL. AWS Neuron does not: it runs its own collectives over EFA.
    pub nccl: bool,
}

/// Most accelerators counted for one container. No node has more, and sizes follow from the count.
const MAX_ACCELERATORS_OF_CONTAINER: u32 = 64;

fn is_zero(text: &str) -> bool {
    Quantity::parse(text).is_ok_and(|q| q == Quantity::from_units(0))
}

impl Default for AcceleratorNames {
    /// NVIDIA's device plugin (whole, MIG and shared names), AMD's, and AWS Neuron's.
    fn default() -> Self {
        let pattern = |text: &str, prefix, whole| {
            let neuron = text.starts_with("aws.amazon.com/neuron");
            Pattern { text: text.to_owned(), prefix, whole, neuron }
        };
        Self {
            names: vec![
                pattern("nvidia.com/gpu", false, true),
                pattern("nvidia.com/gpu.shared", false, false),
                pattern("nvidia.com/mig-", true, false),
                pattern("amd.com/gpu", false, true),
                pattern("aws.amazon.com/neuron", true, true),
            ],
        }
    }
}

impl AcceleratorNames {
    fn find(&self, resource: &str) -> Option<&Pattern> {
        self.names.iter().find(|p| if p.prefix { resource.starts_with(&p.text) } else { resource == p.text })
    }

    /// Whether a resource is an accelerator.
    #[must_use]
    pub fn contains(&self, resource: &str) -> bool {
        self.find(resource).is_some()
    }

    /// Whether the name `k` of a resource is an accelerator, in CEL.
    #[must_use]
    pub fn is_accelerator_in_cel(&self) -> String {
        cel(self.names.iter())
    }

    /// The same for resources whose units are whole accelerators.
    #[must_use]
    pub fn is_whole_accelerator_in_cel(&self) -> String {
        cel(self.names.iter().filter(|p| p.whole))
    }

    /// The accelerators that one container requests by its resources. Zero does not count. `backed` says for other
    /// resources whether a unit is a whole accelerator (`true`) or a slice.
    #[must_use]
    pub fn count_in_container(
        &self,
        container: &Container<'_>,
        backed: &dyn Fn(&str) -> Option<bool>,
    ) -> AcceleratorsOfContainer {
        let mut demand = AcceleratorsOfContainer::default();
        for name in container.resource_names() {
            let (whole, nccl) = match self.find(name) {
                Some(pattern) => (pattern.whole, !pattern.neuron),
                None => match backed(name) {
                    Some(whole) => (whole, true),
                    None => continue,
                },
            };
            let text = container
                .limits()
                .and_then(|l| l.get(name))
                .or_else(|| container.requests().and_then(|r| r.get(name)));
            match text.map(|t| Quantity::parse(&t.0)) {
                Some(Ok(q)) if q.units_rounded_up() > 0 => {
                    demand.any = true;
                    demand.nccl |= nccl;
                    if whole {
                        let units =
                            u32::try_from(q.units_rounded_up()).unwrap_or(MAX_ACCELERATORS_OF_CONTAINER);
                        demand.whole = demand.whole.saturating_add(units).min(MAX_ACCELERATORS_OF_CONTAINER);
                    }
                }
                // Not a number, or negative: the pod wants accelerators and their number is wrong.
                Some(Err(_)) | Some(Ok(_)) if text.is_some_and(|t| !is_zero(&t.0)) => {
                    demand.any = true;
                    demand.nccl |= nccl;
                    demand.unknown = true;
                }
                Some(_) | None => {}
            }
        }
        demand
    }
}

fn cel<'a>(names: impl Iterator<Item = &'a Pattern>) -> String {
    let one = |p: &Pattern| match p.prefix {
        true => format!("k.startsWith('{}')", p.text),
        false => format!("k == '{}'", p.text),
    };
    names.map(one).collect::<Vec<_>>().join(" || ")
}

impl AcceleratorsOfContainer {
    /// Adds accelerators from another source.
    pub(crate) fn add(&mut self, other: Self) {
        self.any |= other.any;
        self.unknown |= other.unknown;
        self.nccl |= other.nccl;
        self.whole = self.whole.saturating_add(other.whole).min(MAX_ACCELERATORS_OF_CONTAINER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(resources: &str) -> AcceleratorsOfContainer {
        let json = format!(r#"{{"resources":{resources}}}"#);
        let container = serde_json::from_str::<Container<'_>>(&json).unwrap();
        AcceleratorNames::default().count_in_container(&container, &|_| None)
    }

    #[test]
    fn counts_whole_accelerators() {
        assert_eq!(
            demand(r#"{"limits":{"nvidia.com/gpu":8}}"#),
            AcceleratorsOfContainer { any: true, whole: 8, unknown: false, nccl: true }
        );
        assert_eq!(demand(r#"{"requests":{"amd.com/gpu":"2"}}"#).whole, 2);
        let neuron = demand(r#"{"limits":{"aws.amazon.com/neuroncore":"4"}}"#);
        assert!(neuron.whole == 4 && !neuron.nccl);
    }

    #[test]
    fn a_slice_is_requested_but_not_whole() {
        let slice = demand(r#"{"limits":{"nvidia.com/mig-3g.40gb":1}}"#);
        assert!(slice.any && slice.whole == 0);
    }

    #[test]
    fn impossible_counts_are_requested_and_limited() {
        assert_eq!(
            demand(r#"{"limits":{"nvidia.com/gpu":-1}}"#),
            AcceleratorsOfContainer { any: true, whole: 0, unknown: true, nccl: true }
        );
        assert_eq!(demand(r#"{"limits":{"nvidia.com/gpu":"1e9"}}"#).whole, MAX_ACCELERATORS_OF_CONTAINER);
    }

    #[test]
    fn zero_and_null_do_not_count() {
        assert_eq!(demand(r#"{"limits":{"nvidia.com/gpu":0}}"#), AcceleratorsOfContainer::default());
        assert_eq!(demand(r#"{"limits":{"nvidia.com/gpu":null}}"#), AcceleratorsOfContainer::default());
        assert_eq!(demand(r#"{"limits":null}"#), AcceleratorsOfContainer::default());
    }

    #[test]
    fn a_placeholder_is_requested_and_unknown() {
        assert_eq!(
            demand(r#"{"limits":{"nvidia.com/gpu":"$GPUS"}}"#),
            AcceleratorsOfContainer { any: true, whole: 0, unknown: true, nccl: true }
        );
    }
}

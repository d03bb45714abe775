//! Units of resources that containers hold, for all containers in one pass. A pod may have thousands of containers
//! with dozens of resources each: one pass per resource would take seconds.

use super::pod_fields::{Container, PodView};
use crate::json::quantity::Quantity;
use crate::json::types_of_decoded_fields::QuantityText;
use std::collections::BTreeSet;

/// A holder of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContainerPlace {
    /// An app container, by its index.
    App(usize),
    /// A native sidecar, by its index among the init containers.
    Sidecar(usize),
    /// A plain init container. The kubelet does not report its devices, so Multus never sees them
    /// (kubernetes/kubernetes#120501).
    Init(usize),
}

impl ContainerPlace {
    /// Whether it is an app container, or runs beside them.
    #[must_use]
    pub fn is_app_or_sidecar(self) -> bool {
        !matches!(self, Self::Init(_))
    }

    /// JSON pointer of the container.
    #[must_use]
    pub fn json_pointer(self) -> String {
        match self {
            Self::App(index) => format!("/spec/containers/{index}"),
            Self::Sidecar(index) | Self::Init(index) => format!("/spec/initContainers/{index}"),
        }
    }
}

impl Container<'_> {
    /// Every resource of the container with its effective quantity, the limit before the request: each name once,
    /// limits first.
    pub fn for_each_resource_quantity<'c>(&'c self, take: &mut dyn FnMut(&'c str, &'c QuantityText<'c>)) {
        let limits = self.limits().map(|l| l.0.as_slice()).unwrap_or_default();
        for (name, quantity) in limits {
            take(name, quantity);
        }
        let requests = self.requests().map(|r| r.0.as_slice()).unwrap_or_default();
        // Both lists nearly always have the same order.
        let mut known: Option<BTreeSet<&str>> = None;
        for (place, (name, quantity)) in requests.iter().enumerate() {
            let beside = limits.get(place).is_some_and(|(limit, _)| **limit == **name);
            let mut known = || {
                let names = || limits.iter().map(|(limit, _)| &**limit).collect();
                known.get_or_insert_with(names).contains(&**name)
            };
            if !beside && !known() {
                take(name, quantity);
            }
        }
    }
}

/// Units of one quantity; 0 if the text is not a quantity.
#[must_use]
pub fn units_or_zero(quantity: &QuantityText<'_>) -> i64 {
    Quantity::parse(&quantity.0).map_or(0, |q| q.units_rounded_up().max(0))
}

impl PodView<'_> {
    /// Every container with its position: app containers, then init containers. Those that we add are left out.
    pub fn containers_not_added_by_webhook(&self) -> impl Iterator<Item = (ContainerPlace, &Container<'_>)> {
        let apps = self.containers().iter().enumerate().map(|(index, c)| (ContainerPlace::App(index), c));
        let inits = self
            .init_containers()
            .iter()
            .enumerate()
            .filter(|(at, c)| !self.looks_added_by_webhook(*at, c))
            .map(|(index, c)| match c.is_sidecar() {
                true => (ContainerPlace::Sidecar(index), c),
                false => (ContainerPlace::Init(index), c),
            });
        apps.chain(inits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_comes_once_with_its_limit() {
        let json =
            r#"{"resources":{"limits":{"a/x":"2","a/y":1},"requests":{"a/y":5,"a/x":7,"a/z":3,"a/w":"$N"}}}"#;
        let container: Container<'_> = serde_json::from_str(json).unwrap();
        let mut found = Vec::new();
        container.for_each_resource_quantity(&mut |name, quantity| {
            found.push((name.to_owned(), units_or_zero(quantity)))
        });
        let found: Vec<(&str, i64)> = found.iter().map(|(n, u)| (n.as_str(), *u)).collect();
        assert_eq!(found, [("a/x", 2), ("a/y", 1), ("a/z", 3), ("a/w", 0)]);
    }

    #[test]
    fn who_runs() {
        let json = r#"{"spec":{"containers":[{}],"initContainers":[{},{"restartPolicy":"Always"}]}}"#;
        let pod: PodView<'_> = serde_json::from_str(json).unwrap();
        let all: Vec<(String, bool)> = pod
            .containers_not_added_by_webhook()
            .map(|(h, _)| (h.json_pointer(), h.is_app_or_sidecar()))
            .collect();
        let path = |text: &str| text.to_owned();
        let expected = [
            (path("/spec/containers/0"), true),
            (path("/spec/initContainers/0"), false),
            (path("/spec/initContainers/1"), true),
        ];
        assert_eq!(all, expected);
    }
}

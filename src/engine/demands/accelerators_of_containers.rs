//! How many accelerators each container of a pod requests, by resources and by claims.

use super::claimed_devices::{Claimed, FabricClaims, devices_claimed_by_containers};
use crate::facts::device_class::{SizeOfAccelerator, accelerators_of_class};
use crate::pod::accelerator_resources::{AcceleratorNames, AcceleratorsOfContainer};
use crate::pod::pod_fields::PodView;
use crate::snapshot::Snapshot;

/// The demands of one pod.
#[derive(Debug, Default)]
pub struct AcceleratorDemands {
    apps: Vec<AcceleratorsOfContainer>,
    /// Init containers, and whether each is a native sidecar.
    inits: Vec<(AcceleratorsOfContainer, bool)>,
    /// Whole accelerators that the pod takes from a node (count), where no number is unknown.
    whole: u32,
    unread: Vec<usize>,
    fabric_claims: FabricClaims,
}

impl AcceleratorDemands {
    /// Reads them.
    #[must_use]
    pub fn demands_of_pod(pod: &PodView<'_>, namespace: &str, snapshot: &Snapshot) -> Self {
        let names: &AcceleratorNames = &snapshot.settings().accelerators;
        let backed = |resource: &str| {
            let class = snapshot.cluster_facts_for_audience().device_class_of_resource(resource)?;
            let size = accelerators_of_class(class, snapshot.device_class(class))?;
            Some(size == SizeOfAccelerator::Whole)
        };
        let Claimed { demands, whole, unread, fabric } =
            devices_claimed_by_containers(pod, namespace, snapshot);
        let first = pod.containers().len();
        let of_resources = |container| names.count_in_container(container, &backed);
        // Preflight, which the webhook adds, is counted too: it runs before the app containers with their devices, so that it
        // adds nothing. Left out, a container that only claims to be preflight would hide its accelerators.
        let mut apps: Vec<_> = pod.containers().iter().map(of_resources).collect();
        let mut inits: Vec<_> =
            pod.init_containers().iter().map(|c| (of_resources(c), c.is_sidecar())).collect();
        let whole = whole.saturating_add(units_taken_from_node(&apps, &inits));
        for (index, claimed) in demands {
            let demand = match index.checked_sub(first) {
                None => apps.get_mut(index),
                Some(init) => inits.get_mut(init).map(|(demand, _)| demand),
            };
            demand.into_iter().for_each(|demand| demand.add(claimed));
        }
        Self { apps, inits, whole, unread, fabric_claims: fabric }
    }

    /// Whether any container requests accelerators, slices and shares included.
    #[must_use]
    pub fn requests_any_accelerator(&self) -> bool {
        self.apps.iter().chain(self.inits.iter().map(|(d, _)| d)).any(|d| d.any)
    }

    /// The demand of an app container.
    #[must_use]
    pub fn of_app_container(&self, index: usize) -> AcceleratorsOfContainer {
        self.apps.get(index).copied().unwrap_or_default()
    }

    /// The demand of an init container.
    #[must_use]
    pub fn of_init_container(&self, index: usize) -> AcceleratorsOfContainer {
        self.inits.get(index).map(|(demand, _)| *demand).unwrap_or_default()
    }

    /// Whether an app container uses a claim with unknown devices.
    #[must_use]
    pub fn has_unknown_claim(&self, index: usize) -> bool {
        self.unread.binary_search(&index).is_ok()
    }

    /// Whether an init container uses a claim with unknown devices.
    #[must_use]
    pub fn init_has_unknown_claim(&self, index: usize) -> bool {
        self.has_unknown_claim(self.apps.len() + index)
    }

    /// Whether any container uses a claim with unknown devices: the pod may request more accelerators than are counted.
    #[must_use]
    pub fn any_unknown_claim(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Whether a claim of the pod brings network devices.
    #[must_use]
    pub fn claims_network_devices(&self) -> bool {
        self.fabric_claims.nic.is_some()
    }

    /// The effect of the pod's claims on its fabric.
    #[must_use]
    pub fn fabric_claims(&self) -> &FabricClaims {
        &self.fabric_claims
    }

    /// Whole accelerators that the pod takes from a node, as the scheduler counts them: those of claims, and those of
    /// resources. `None` if a number is unknown.
    #[must_use]
    pub fn whole_accelerators_taken_from_node(&self) -> Option<u32> {
        let unknown = self.apps.iter().chain(self.inits.iter().map(|(d, _)| d)).any(|d| d.unknown);
        if unknown || !self.unread.is_empty() && !self.requests_any_accelerator() {
            return None;
        }
        Some(self.whole)
    }
}

/// Whole accelerators of resources that a pod takes from a node: the app containers and native sidecars together, or an
/// init container with the sidecars before it, whichever is more (KEP-753).
fn units_taken_from_node(apps: &[AcceleratorsOfContainer], inits: &[(AcceleratorsOfContainer, bool)]) -> u32 {
    let (mut sidecars, mut most) = (0_u32, 0_u32);
    for (demand, sidecar) in inits {
        let now = sidecars.saturating_add(demand.whole);
        most = most.max(now);
        if *sidecar {
            sidecars = now;
        }
    }
    apps.iter().fold(sidecars, |sum, d| sum.saturating_add(d.whole)).max(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Builder, Layer};

    fn of(spec: &str) -> AcceleratorDemands {
        let mut builder = Builder::default();
        let class = r#"{"metadata":{"name":"ours"},"spec":{"extendedResourceName":"example.com/gpu",
            "selectors":[{"cel":{"expression":"device.driver == 'gpu.nvidia.com'"}}]}}"#;
        builder.add(Layer::Input, "resource.k8s.io", "DeviceClass", class, "t").unwrap();
        let json = format!(r#"{{"spec":{{{spec}}}}}"#);
        AcceleratorDemands::demands_of_pod(&serde_json::from_str(&json).unwrap(), "t", &builder.build())
    }

    fn limits(name: &str, units: u32) -> String {
        format!(r#""resources":{{"limits":{{"{name}":{units}}}}}"#)
    }

    #[test]
    fn the_effective_request() {
        let gpus = |n| limits("nvidia.com/gpu", n);
        let always = r#""restartPolicy":"Always","#;
        for (inits, apps, whole) in [
            (String::new(), format!("{{{}}},{{{}}}", gpus(2), gpus(4)), 6),
            // An init container's devices are released for later containers.
            (format!("{{{}}}", gpus(8)), format!("{{{}}}", gpus(4)), 8),
            (format!("{{{}}}", gpus(2)), format!("{{{}}}", gpus(4)), 4),
            // A sidecar keeps its devices, also while a later init container runs.
            (format!("{{{always}{}}},{{{}}}", gpus(1), gpus(4)), format!("{{{}}}", gpus(2)), 5),
            (format!("{{{}}},{{{always}{}}}", gpus(4), gpus(1)), format!("{{{}}}", gpus(2)), 4),
        ] {
            let spec = format!(r#""initContainers":[{inits}],"containers":[{apps}]"#);
            assert_eq!(of(&spec).whole_accelerators_taken_from_node(), Some(whole), "{spec}");
        }
    }

    /// A claim is allocated for the whole life of the pod: an ordinary init container has the devices of all its claims at
    /// once, also of those that an app container uses later.
    #[test]
    fn claims_are_allocated_for_the_life_of_the_pod() {
        let template = |name: &str, count: u32| {
            format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"t"}},"spec":{{"spec":{{"devices":{{"requests":[
                {{"name":"r","exactly":{{"deviceClassName":"gpu.nvidia.com","count":{count}}}}}]}}}}}}}}"#
            )
        };
        let mut builder = Builder::default();
        for (name, count) in [("one", 1), ("four", 4), ("seven", 7)] {
            let json = template(name, count);
            builder.add(Layer::Input, "resource.k8s.io", "ResourceClaimTemplate", &json, "t").unwrap();
        }
        let snapshot = builder.build();
        let container = |claims: &[&str], units: u32| {
            let claims: Vec<String> = claims.iter().map(|c| format!(r#"{{"name":"{c}"}}"#)).collect();
            format!(
                r#"{{"resources":{{"limits":{{"nvidia.com/gpu":{units}}},"claims":[{}]}}}}"#,
                claims.join(",")
            )
        };
        for (init, app, whole) in [
            (container(&["a", "b"], 0), container(&["a"], 0), 8),
            (container(&["c", "d"], 0), container(&["c"], 0), 8),
            (container(&["a"], 4), container(&["a"], 0), 8),
            (container(&["a"], 4), container(&["b"], 3), 12),
            (container(&[], 4), container(&["a", "b"], 0), 12),
            (container(&["a"], 0), container(&["a"], 0), 4),
        ] {
            let json = format!(
                r#"{{"spec":{{"resourceClaims":[{{"name":"a","resourceClaimTemplateName":"four"}},
                {{"name":"b","resourceClaimTemplateName":"four"}},{{"name":"c","resourceClaimTemplateName":"seven"}},
                {{"name":"d","resourceClaimTemplateName":"one"}}],"initContainers":[{init}],"containers":[{app}]}}}}"#
            );
            let demands =
                AcceleratorDemands::demands_of_pod(&serde_json::from_str(&json).unwrap(), "t", &snapshot);
            assert_eq!(demands.whole_accelerators_taken_from_node(), Some(whole), "{json}");
        }
    }

    #[test]
    fn a_device_class_behind_a_resource() {
        for name in ["example.com/gpu", "deviceclass.resource.kubernetes.io/ours"] {
            let demands = of(&format!(r#""containers":[{{{}}}]"#, limits(name, 8)));
            assert_eq!(
                (
                    demands.requests_any_accelerator(),
                    demands.whole_accelerators_taken_from_node(),
                    demands.of_app_container(0).whole
                ),
                (true, Some(8), 8),
                "{name}"
            );
        }
        assert!(
            !of(&format!(r#""containers":[{{{}}}]"#, limits("example.com/nic", 8)))
                .requests_any_accelerator()
        );
    }

    #[test]
    fn an_unknown_claim_leaves_the_number_open() {
        let claims = r#""resourceClaims":[{"name":"c","resourceClaimTemplateName":"x"}]"#;
        let used = r#"{"resources":{"claims":[{"name":"c"}]}}"#;
        let demands = of(&format!(r#"{claims},"containers":[{{}},{used}]"#));
        assert_eq!(
            (demands.whole_accelerators_taken_from_node(), demands.requests_any_accelerator()),
            (None, false)
        );
        assert!(demands.has_unknown_claim(1) && !demands.has_unknown_claim(0));
        let beside = of(&format!(r#"{claims},"containers":[{{{}}},{used}]"#, limits("nvidia.com/gpu", 8)));
        assert_eq!(beside.whole_accelerators_taken_from_node(), Some(8));
    }
}

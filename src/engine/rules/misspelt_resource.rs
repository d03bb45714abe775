//! Resource names that are one mistake away from one that device plugins serve.

use crate::demands::Subject;

/// Names that device plugins serve by default, or that their projects' examples use.
const NAMES: [&str; 12] = [
    "amd.com/gpu",
    "amd.com/nic",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/hostdev",
    "nvidia.com/mlnxnics",
    "rdma/rdma_shared_device_a",
    "rdma/hca_shared_devices_a",
    "vpc.amazonaws.com/efa",
];
/// Names near one of them that other plugins serve: KubeVirt's and Volcano's.
const OTHERS: [&str; 2] = ["nvidia.com/pgpu", "nvidia.com/vgpu"];
/// Domains of device plugins, and what a person may write for them.
const DOMAINS: [&str; 6] =
    ["amd.com", "aws.amazon.com", "mellanox.com", "nvidia.com", "rdma", "vpc.amazonaws.com"];
/// Below this length (bytes) a domain with one other letter is more likely another vendor's: `arm.com`.
const LONG_DOMAIN: usize = 8;

/// The name that was probably meant, where nothing that the pod's namespace may know serves a resource.
pub(super) fn resource_name_meant_if_unserved(name: &str, subject: &Subject<'_>) -> Option<String> {
    let meant = near_known_name(name)?;
    let snapshot = subject.snapshot;
    let mut profiles = snapshot.catalog().with_resource(name).iter();
    let served = snapshot.settings().accelerators.contains(name)
        || snapshot.resource(name).is_some()
        || snapshot.cluster_facts_for_audience().device_class_of_resource(name).is_some()
        || snapshot.nodes_for_audience().classes().classes_offering(name).is_some()
        || profiles.any(|p| snapshot.admits(p, subject.namespace));
    (!served).then_some(meant)
}

fn near_known_name(name: &str) -> Option<String> {
    let (domain, rest) = name.split_once('/')?;
    if NAMES.contains(&name) || OTHERS.contains(&name) {
        return None;
    }
    if let Some(known) = DOMAINS.into_iter().find(|known| is_near_domain(domain, known)) {
        return Some(format!("{known}/{}", near_name(known, rest).unwrap_or(rest)));
    }
    near_name(domain, rest).map(|rest| format!("{domain}/{rest}"))
}

fn is_near_domain(domain: &str, known: &str) -> bool {
    if domain.len() > known.len() + char::MAX.len_utf8() {
        return false;
    }
    let lower = domain.to_ascii_lowercase();
    let first = known.split('.').next().unwrap_or_default();
    let long = known == "rdma" || known.len() >= LONG_DOMAIN;
    domain != known && (lower == known || lower == first || long && strsim::osa_distance(&lower, known) == 1)
}

/// The name of a domain's plugin that another is a mistyped form of.
fn near_name(domain: &str, rest: &str) -> Option<&'static str> {
    let longest = NAMES.into_iter().map(str::len).max().unwrap_or(0);
    if rest.len() > longest {
        return None;
    }
    let lower = rest.to_ascii_lowercase();
    let names = NAMES.into_iter().filter_map(|name| name.strip_prefix(domain)?.strip_prefix('/'));
    names.into_iter().find(|name| {
        // Pools of one kind differ in a number or in the last letter: `hca_shared_devices_b`.
        let same_start = lower.chars().next() == name.chars().next();
        let own_ending = lower.chars().next_back() != name.chars().next_back() && lower.len() == name.len();
        let digits = lower.chars().any(|c| c.is_ascii_digit());
        rest != *name
            && (lower == *name
                || same_start && !own_ending && !digits && strsim::osa_distance(&lower, name) == 1)
    })
}

#[cfg(test)]
mod tests {
    use super::near_known_name;

    #[test]
    fn mistyped_names_and_others() {
        for (name, meant) in [
            ("nvidia.com/gpus", "nvidia.com/gpu"),
            ("nvidia.com/GPU", "nvidia.com/gpu"),
            ("nvidia/gpu", "nvidia.com/gpu"),
            ("NVIDIA.com/gpu", "nvidia.com/gpu"),
            ("nvdia.com/gpus", "nvidia.com/gpu"),
            ("nvidia.com/mlnxics", "nvidia.com/mlnxnics"),
            ("nvidia.com/host-dev", "nvidia.com/hostdev"),
            ("edma/anything", "rdma/anything"),
            ("rmda/hca", "rdma/hca"),
            ("amd/gpu", "amd.com/gpu"),
            ("vpc.amazonaw.com/efa", "vpc.amazonaws.com/efa"),
            ("rdma/hca_shared_device_a", "rdma/hca_shared_devices_a"),
        ] {
            assert_eq!(near_known_name(name).as_deref(), Some(meant), "{name}");
        }
        for name in [
            "nvidia.com/gpu",
            "nvidia.com/vgpu",
            "nvidia.com/pgpu",
            "nvidia.com/gpu2",
            "nvidia.com/gpumem",
            "nvidia.com/mig-1g.5gb",
            "nvidia.com/npu",
            "rdma/hca",
            "rdma/hca_shared_devices_b",
            "arm.com/gpu",
            "amd.com/gpu_vf",
            "aws.amazon.com/neuroncore",
            "vpc.amazonaws.com/efa-only",
            "example.com/gpu",
            "cpu",
        ] {
            assert_eq!(near_known_name(name), None, "{name}");
        }
    }
}

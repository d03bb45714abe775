//! Extended resources that provide RDMA NICs, by their names: evidence in the pod's own fields, without facts.

use std::borrow::Cow;

/// Resource of the AWS EFA device plugin, with the variants `vpc.amazonaws.com/efa-…`.
const EFA: &str = "vpc.amazonaws.com/efa";

/// Words of resource names that mean an RDMA device, whoever serves them: `rdma/hca_a`, `vpc.amazonaws.com/efa`. A name
/// with `rdma` in it means one as well: `openshift.io/rdma_vf`, `aliyun/erdma`, `networking.gke.io.networks/rdma-0`.
const RDMA_WORDS: [&str; 4] = ["roce", "hca", "infiniband", "efa"];
/// Words that mean one only under the prefixes of NIC vendors, whose other resources are accelerators:
/// `nvidia.com/sriov_resource`, `nvidia.com/hostdev`, `nvidia.com/mlnxnics`, `mellanox.com/cx6_vf`, `amd.com/nic`.
const NIC_WORDS: [&str; 10] = ["hostdev", "nic", "nics", "vnic", "vf", "vfs", "sf", "ib", "rail", "connectx"];
/// Starts of such words, which a pool's own name may follow: `sriovlegacy`, `mlnxnics`.
const POOL_STARTS: [&str; 2] = ["sriov", "mlnx"];
/// Prefixes of those vendors: NVIDIA's network operator, the former Mellanox', and AMD's network operator.
const NIC_VENDORS: [&str; 3] = ["nvidia.com", "mellanox.com", "amd.com"];

/// Whether a name is the EFA resource or a variant of it.
#[must_use]
pub fn is_efa_resource(resource: &str) -> bool {
    resource.strip_prefix(EFA).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// Whether the name of a resource shows an RDMA device. The prefix proves little: one device plugin serves
/// `nvidia.com`, `openshift.io`, `intel.com` and `rdma` alike.
#[must_use]
pub fn is_rdma_device_by_name(resource: &str) -> bool {
    let Some((domain, name)) = resource.split_once('/') else { return false };
    if domain == "rdma" {
        return true;
    }
    let vendor = NIC_VENDORS.contains(&domain);
    // Nearly every name is in lower case.
    let name = match name.bytes().any(|b| b.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    };
    // A slice of a GPU is named after it: `amd.com/gpu_vf`.
    if name.starts_with("gpu") {
        return false;
    }
    if name.contains("rdma") {
        return true;
    }
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    words().any(|word| {
        // `rdma8` and `sriovlegacy` are a word with a suffix: a number, or a pool's own name.
        let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let pool = POOL_STARTS.iter().any(|start| word.starts_with(start));
        RDMA_WORDS.contains(&stem) || vendor && (NIC_WORDS.contains(&stem) || pool)
    })
}

/// Whether the name of a resource shows a device for NCCL's own transport over verbs. EFA has none: its devices are
/// driven by a plugin (aws/aws-ofi-nccl), which does not read NCCL's settings of verbs.
#[must_use]
pub fn is_verbs_device_by_name(resource: &str) -> bool {
    is_rdma_device_by_name(resource) && !is_efa_resource(resource)
}

/// Words of a function of a NIC that one pod has for itself: a VF, an SF or a whole host device.
const FUNCTION_WORDS: [&str; 5] = ["vf", "vfs", "sf", "sfs", "hostdev"];

/// Starts of names of resources that the SR-IOV device plugin serves: the default prefix of the SR-IOV operator
/// (deployment/sriov-network-operator-chart/values.yaml, resourcePrefix), and the names of the plugin's own examples.
const FUNCTION_STARTS: [&str; 3] = ["openshift.io/", "intel.com/intel_sriov_", "intel.com/sriov"];

/// Whether the name of a resource shows such a function. Other names may be those of a shared device, which any
/// number of pods have at a time.
#[must_use]
pub fn is_vf_or_host_device_by_name(resource: &str) -> bool {
    let name = resource.split_once('/').map_or("", |(_, name)| name).to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let exclusive = |word: &str| {
        let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.starts_with("sriov") || FUNCTION_WORDS.contains(&stem)
    };
    let served = FUNCTION_STARTS.iter().any(|start| resource.starts_with(start));
    !name.contains("shared") && (served || is_verbs_device_by_name(resource) && words.any(exclusive))
}

/// The same in CEL, for a resource `k`.
#[must_use]
pub fn is_vf_or_host_device_in_cel() -> String {
    let words = format!("sriov[a-z0-9]*|({})[0-9]*", FUNCTION_WORDS.join("|"));
    let served: Vec<String> =
        FUNCTION_STARTS.iter().map(|start| format!("k.startsWith('{start}')")).collect();
    format!(
        "!k.matches('^[^/]+/(?i:.*shared)') && ({} || {} && k.matches('^[^/]+/(?i:{})'))",
        served.join(" || "),
        is_verbs_device_in_cel(),
        cel_word(&words)
    )
}

/// A regular expression for a name with one of some words.
fn cel_word(choice: &str) -> String {
    format!("([^/]*[^a-z0-9])?({choice})([^a-z0-9].*)?$")
}

/// [`is_verbs_device_by_name`] in CEL, for a resource `k`.
#[must_use]
pub fn is_verbs_device_in_cel() -> String {
    let any = |words: &[&str]| words.join("|");
    let vendors: Vec<String> = NIC_VENDORS.iter().map(|v| v.replace('.', "[.]")).collect();
    let rdma = cel_word(&format!("({})[0-9]*", any(&RDMA_WORDS)));
    let nic = cel_word(&format!("({})[0-9]*|({})[a-z0-9]*", any(&NIC_WORDS), any(&POOL_STARTS)));
    format!(
        "(k.startsWith('rdma/') || k.contains('/') && !k.matches('^[^/]+/(?i:gpu)') && \
         !k.matches('^{}([^A-Za-z0-9].*)?$') && (k.matches('^[^/]+/(?i:.*rdma)') || k.matches('^[^/]+/(?i:{rdma})') || \
         k.matches('^({})/(?i:{nic})')))",
        EFA.replace('.', "[.]"),
        vendors.join("|"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_public_manifests() {
        for name in [
            "rdma/ib",
            "rdma/rdma_shared_device_a",
            "nvidia.com/rdma-vf",
            "nvidia.com/hostdev",
            "nvidia.com/mlnxnics",
            "nvidia.com/sriov_resource_rail_0",
            "nvidia.com/sriovlegacy",
            "mellanox.com/shared_hca_rdma",
            "mellanox.com/mlnx_rdma",
            "intel.com/mlnx_sriov_rdma8",
            "openshift.io/rdma_exclusive_device",
            "vpc.amazonaws.com/efa",
            "vke.volcengine.com/rdma",
            "aliyun/erdma",
            "amd.com/nic",
            "nvidia.com/bf3_sf",
            "openshift.io/RDMA_VF",
            "networking.gke.io.networks/rdma-0",
        ] {
            assert!(is_rdma_device_by_name(name), "{name}");
        }
        for name in [
            "nvidia.com/gpu",
            "nvidia.com/gpu.shared",
            "nvidia.com/gpumem",
            "nvidia.com/mig-1g.10gb",
            "nvidia.com/priority",
            "amd.com/gpu",
            "amd.com/gpu_vf",
            "intel.com/sriov",
            "aws.amazon.com/neuron",
            "vpc.amazonaws.com/pod-eni",
            "example.com/graphics",
            "hugepages-2Mi",
            "cpu",
        ] {
            assert!(!is_rdma_device_by_name(name), "{name}");
        }
        assert!(is_efa_resource("vpc.amazonaws.com/efa") && is_efa_resource("vpc.amazonaws.com/efa-only"));
        assert!(!is_efa_resource("vpc.amazonaws.com/efax"));
        for name in [
            "openshift.io/rdma_vf",
            "nvidia.com/sriov_resource_rail_0",
            "nvidia.com/hostdev",
            "nvidia.com/bf3_sf",
            "openshift.io/nic1",
            "intel.com/intel_sriov_dpdk",
            "intel.com/sriov_a",
        ] {
            assert!(is_vf_or_host_device_by_name(name), "{name}");
        }
        for name in [
            "rdma/hca_shared_devices_a",
            "rdma/ib",
            "vpc.amazonaws.com/efa",
            "amd.com/gpu_vf",
            "nvidia.com/gpu",
        ] {
            assert!(!is_vf_or_host_device_by_name(name), "{name}");
        }
        assert!(!is_verbs_device_by_name("vpc.amazonaws.com/efa-only") && is_verbs_device_by_name("rdma/ib"));
    }
}

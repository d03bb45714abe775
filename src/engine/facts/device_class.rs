//! DeviceClass: the target of a claim's request, and the extended resource that it may provide.

use super::object::{Meta, Object, text};
use crate::json::decode::{DecodeError, object as decode};
use crate::json::values::{Objects, mapping};
use serde::Deserialize;

/// Domain of the resource that every class provides under its own name (kubernetes/kubernetes
/// staging/src/k8s.io/api/resource/v1, `ResourceDeviceClassPrefix`).
pub const IMPLICIT_DOMAIN: &str = "deviceclass.resource.kubernetes.io";

/// Drivers of whole accelerators, whose classes have the driver's name: NVIDIA/k8s-dra-driver-gpu,
/// ROCm/k8s-gpu-dra-driver, and AWS' for Neuron.
const ACCELERATORS: [&str; 3] = ["gpu.nvidia.com", "gpu.amd.com", "neuron.aws.com"];

/// Driver of SR-IOV functions.
pub(super) const SRIOV_DRIVER: &str = "sriovnetwork.k8snetworkplumbingwg.io";

/// The known facts about a class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceClass {
    /// `extendedResourceName`: the resource that pods may request instead of a claim (KEP-5004).
    pub extended_resource: Option<String>,
    /// Driver whose devices the class takes, if a selector names it.
    pub driver: Option<String>,
    /// Whether a selector requires slices of devices (NVIDIA's type `mig`) or devices of virtual machines (`vfio`).
    pub no_whole_device: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    extended_resource_name: Option<String>,
    #[serde(default)]
    selectors: Option<Objects<Selector>>,
}

#[derive(Default, Deserialize)]
struct Selector {
    #[serde(default, deserialize_with = "mapping")]
    cel: Option<Cel>,
}

#[derive(Default, Deserialize)]
struct Cel {
    #[serde(default)]
    expression: Option<String>,
}

pub(super) fn read(json: &str) -> Result<(Meta, DeviceClass), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.split();
    let spec = spec.unwrap_or_default();
    let selectors = spec.selectors.map(|s| s.0).unwrap_or_default();
    let expressions: Vec<String> =
        selectors.into_iter().filter_map(|s| s.cel.and_then(|c| c.expression)).collect();
    let has = |text: &str| expressions.iter().any(|e| e.contains(text));
    let class = DeviceClass {
        extended_resource: text(spec.extended_resource_name),
        driver: expressions.iter().find_map(|e| driver(e)).map(str::to_owned),
        no_whole_device: ["'mig'", "\"mig\"", "'vfio'", "\"vfio\""].into_iter().any(has),
    };
    Ok((meta, class))
}

/// The driver that an expression compares with: `device.driver == "NAME"`, in single or double quotes.
fn driver(expression: &str) -> Option<&str> {
    let (_, after) = expression.split_once("device.driver")?;
    let after = after.trim_start().strip_prefix("==")?.trim_start();
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    after.get(1..)?.split_once(quote).map(|(name, _)| name)
}

/// Whether a request of a class is for whole accelerators: by the class's selectors if known, else by its name.
#[must_use]
pub fn is_accelerator(name: &str, class: Option<&DeviceClass>) -> bool {
    match class {
        Some(DeviceClass { driver: Some(driver), no_whole_device, .. }) => {
            ACCELERATORS.contains(&driver.as_str()) && !no_whole_device
        }
        _ => ACCELERATORS.contains(&name),
    }
}

/// Whether a request of a class is for functions of dra-driver-sriov, by the same evidence.
#[must_use]
pub fn is_function(name: &str, class: Option<&DeviceClass>) -> bool {
    driver_of(name, class) == SRIOV_DRIVER
}

/// The driver of a class: the one that a selector names, else the class's own name, since classes usually have their
/// driver's name.
#[must_use]
pub fn driver_of<'a>(name: &'a str, class: Option<&'a DeviceClass>) -> &'a str {
    class.and_then(|c| c.driver.as_deref()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_driver_and_resource() {
        let json = r#"{"metadata":{"name":"a"},"spec":{"extendedResourceName":"example.com/gpu","selectors":[null,
            {"cel":{"expression":"device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"}}]}}"#;
        let class = read(json).unwrap().1;
        assert_eq!(class.extended_resource.as_deref(), Some("example.com/gpu"));
        assert_eq!(class.driver.as_deref(), Some("gpu.nvidia.com"));
        assert!(is_accelerator("a", Some(&class)) && !is_accelerator("a", None));
    }

    #[test]
    fn slices_are_not_accelerators() {
        let json = r#"{"spec":{"selectors":[{"cel":{"expression":"device.driver==\"gpu.nvidia.com\" && device.attributes['gpu.nvidia.com'].type == 'mig'"}}]}}"#;
        assert!(!is_accelerator("mig.nvidia.com", Some(&read(json).unwrap().1)));
        assert!(is_accelerator("gpu.nvidia.com", None));
        assert!(!is_accelerator("mig.nvidia.com", None));
        assert!(is_accelerator("gpu.nvidia.com", Some(&DeviceClass::default())));
    }
}

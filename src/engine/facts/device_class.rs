//! DeviceClass: the target of a claim's request, and the extended resource that it may provide.

use super::object_shape::{MAX_NAME_LENGTH, Meta, Object, non_empty};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::types_of_decoded_fields::{Objects, optional_struct};
use serde::Deserialize;

/// Domain of the resource that every class provides under its own name (kubernetes/kubernetes
/// staging/src/k8s.io/api/resource/v1, `ResourceDeviceClassPrefix`).
pub const IMPLICIT_RESOURCE_DOMAIN: &str = "deviceclass.resource.kubernetes.io";

/// Drivers of whole accelerators, whose classes have the driver's name: NVIDIA/k8s-dra-driver-gpu,
/// ROCm/k8s-gpu-dra-driver, and AWS' for Neuron.
const ACCELERATOR_DRIVERS: [&str; 3] = ["gpu.nvidia.com", "gpu.amd.com", "neuron.aws.com"];

/// Driver of SR-IOV functions.
pub const SRIOV_DRIVER: &str = "sriovnetwork.k8snetworkplumbingwg.io";

/// The known facts about a class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceClass {
    /// `extendedResourceName`: the resource that pods may request instead of a claim (KEP-5004).
    pub extended_resource: Option<String>,
    /// Driver whose devices the class takes, if a selector names it or reads the attributes of a driver of accelerators.
    /// Only these ways to write a selector are read, no CEL.
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

/// One selector of a class, or of a request of a claim.
#[derive(Default, Deserialize)]
pub(super) struct Selector {
    #[serde(default, deserialize_with = "optional_struct")]
    cel: Option<Cel>,
}

#[derive(Default, Deserialize)]
struct Cel {
    #[serde(default)]
    expression: Option<String>,
}

pub(super) fn read(json: &str) -> Result<(Meta, DeviceClass), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    let spec = spec.unwrap_or_default();
    let DevicesOfSelectors { driver, no_whole_device } =
        DevicesOfSelectors::read_cel_selectors(spec.selectors);
    Ok((
        meta,
        DeviceClass { extended_resource: non_empty(spec.extended_resource_name), driver, no_whole_device },
    ))
}

/// The devices that selectors take, as far as it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DevicesOfSelectors {
    /// Driver, see [`DeviceClass::driver`].
    pub driver: Option<String>,
    /// Whether they are slices or devices of virtual machines, see [`DeviceClass::no_whole_device`].
    pub no_whole_device: bool,
}

impl DevicesOfSelectors {
    pub(super) fn read_cel_selectors(selectors: Option<Objects<Selector>>) -> Self {
        let selectors = selectors.map(|s| s.0).unwrap_or_default();
        let expressions: Vec<String> =
            selectors.into_iter().filter_map(|s| s.cel.and_then(|c| c.expression)).collect();
        // A selector can be true of every device, so a driver of accelerators counts in each of them.
        let drivers =
            || expressions.iter().flat_map(|e| [compared_driver(e), driver_of_attributes(e)]).flatten();
        let driver =
            drivers().find(|driver| ACCELERATOR_DRIVERS.contains(driver)).or_else(|| drivers().next());
        let no_whole_device = expressions.iter().any(|e| is_about_slices_or_vfio(e));
        Self { driver: driver.map(str::to_owned), no_whole_device }
    }
}

/// The driver that an expression compares with: `device.driver == "NAME"`, in single or double quotes and in both
/// orders. Of several, a driver of accelerators counts: the class may give its devices.
fn compared_driver(expression: &str) -> Option<&str> {
    let compared = || expression.match_indices(DRIVER).filter_map(|(at, _)| compared_at(expression, at));
    compared().find(|driver| ACCELERATOR_DRIVERS.contains(driver)).or_else(|| compared().next())
}

const DRIVER: &str = "device.driver";

/// The driver that an expression compares with the `device.driver` at a place of it. Tenants write expressions, and what is
/// found is kept for every claim, so a text that no driver can have as its name is not a driver.
fn compared_at(expression: &str, at: usize) -> Option<&str> {
    compared_text(expression, at).filter(|driver| driver.len() <= MAX_NAME_LENGTH)
}

fn compared_text(expression: &str, at: usize) -> Option<&str> {
    let (before, after) = (expression.get(..at)?, expression.get(at + DRIVER.len()..)?);
    if let Some(after) = after.trim_start().strip_prefix("==") {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        return after.get(1..)?.split_once(quote).map(|(name, _)| name);
    }
    let before = before.trim_end().strip_suffix("==")?.trim_end();
    let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    before.strip_suffix(quote)?.rsplit_once(quote).map(|(_, name)| name)
}

/// The driver of accelerators whose attributes or capacities an expression reads: `device.attributes["NAME"]`. A driver
/// publishes them under its own name (kubernetes/kubernetes staging/src/k8s.io/api/resource/v1, `QualifiedName`).
fn driver_of_attributes(expression: &str) -> Option<&'static str> {
    let reads = |driver: &&str| {
        expression.match_indices(*driver).any(|(at, _)| {
            let (before, after) = (expression.get(..at), expression.get(at + driver.len()..));
            let opens = before.is_some_and(|b| b.ends_with("['") || b.ends_with("[\""));
            opens && after.is_some_and(|a| a.starts_with("']") || a.starts_with("\"]"))
        })
    };
    ACCELERATOR_DRIVERS.into_iter().find(reads)
}

/// Whether an expression is about slices of accelerators or devices for virtual machines. Only such devices have the type
/// `mig` or `vfio`, and only slices have a profile or a parent (kubernetes-sigs/dra-driver-nvidia-gpu
/// cmd/gpu-kubelet-plugin/deviceinfo.go). An expression that excludes the type with `!=`, or that also
/// names the type `gpu`, is about whole devices.
fn is_about_slices_or_vfio(expression: &str) -> bool {
    let of_slices = [".profile", ".parentUUID"].iter().any(|attribute| expression.contains(attribute));
    let any = |values: &[&str]| values.iter().any(|value| has_value_not_excluded(expression, value));
    of_slices || any(&["'mig'", "\"mig\"", "'vfio'", "\"vfio\""]) && !any(&["'gpu'", "\"gpu\""])
}

/// Whether an expression has a value anywhere but beside `!=`.
fn has_value_not_excluded(expression: &str, quoted: &str) -> bool {
    expression.match_indices(quoted).any(|(at, _)| {
        let (before, after) = (expression.get(..at), expression.get(at + quoted.len()..));
        let excluded = before.is_some_and(|b| b.trim_end().ends_with("!="))
            || after.is_some_and(|a| a.trim_start().starts_with("!="));
        !excluded
    })
}

/// Whether a request of a class is for whole accelerators: by the class's selectors if known, else by its name.
#[must_use]
pub fn is_class_of_whole_accelerators(name: &str, class: Option<&DeviceClass>) -> bool {
    accelerators_of_class(name, class) == Some(SizeOfAccelerator::Whole)
}

/// Class for MIG slices of NVIDIA's driver (NVIDIA/k8s-dra-driver-gpu deployments/helm, `deviceclass-mig.yaml`).
const MIG_CLASS: &str = "mig.nvidia.com";

/// What a device of accelerators is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeOfAccelerator {
    /// A whole accelerator.
    Whole,
    /// A slice of one.
    Slice,
}

/// The accelerators that a request of a class is for: by the class's selectors if known, else by its name.
#[must_use]
pub fn accelerators_of_class(name: &str, class: Option<&DeviceClass>) -> Option<SizeOfAccelerator> {
    match class {
        Some(DeviceClass { driver: Some(driver), no_whole_device, .. }) => {
            size_of_accelerators_of_driver(driver, *no_whole_device)
        }
        _ if name == MIG_CLASS => Some(SizeOfAccelerator::Slice),
        _ => size_of_accelerators_of_driver(name, false),
    }
}

/// The accelerators of a driver, if it has accelerators.
pub(super) fn size_of_accelerators_of_driver(
    driver: &str,
    no_whole_device: bool,
) -> Option<SizeOfAccelerator> {
    let size = if no_whole_device { SizeOfAccelerator::Slice } else { SizeOfAccelerator::Whole };
    ACCELERATOR_DRIVERS.contains(&driver).then_some(size)
}

/// The driver of a class: the one that a selector names, else the class's own name, since classes usually have their
/// driver's name.
#[must_use]
pub fn driver_or_name_of_class<'a>(name: &'a str, class: Option<&'a DeviceClass>) -> &'a str {
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
        assert!(
            is_class_of_whole_accelerators("a", Some(&class)) && !is_class_of_whole_accelerators("a", None)
        );
    }

    #[test]
    fn reads_the_ways_to_write_a_class() {
        for (expression, driver, accelerator) in [
            ("'gpu.nvidia.com' == device.driver", Some("gpu.nvidia.com"), true),
            (r#"device.driver=="gpu.amd.com""#, Some("gpu.amd.com"), true),
            (
                "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type != 'mig'",
                Some("gpu.nvidia.com"),
                true,
            ),
            (
                "device.driver == 'gpu.nvidia.com' && 'mig' == device.attributes['gpu.nvidia.com'].type",
                Some("gpu.nvidia.com"),
                false,
            ),
            ("device.attributes['gpu.nvidia.com'].architecture == 'Hopper'", Some("gpu.nvidia.com"), true),
            (
                r#"device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("40Gi"))"#,
                Some("gpu.nvidia.com"),
                true,
            ),
            ("device.attributes['gpu.nvidia.com'].type == 'vfio'", Some("gpu.nvidia.com"), false),
            (
                "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type in ['mig', 'vfio']",
                Some("gpu.nvidia.com"),
                false,
            ),
            ("device.attributes['gpu.nvidia.com'].profile == '3g.40gb'", Some("gpu.nvidia.com"), false),
            ("device.driver == 'dra.net' && device.attributes['dra.net'].rdma", Some("dra.net"), false),
            ("device.attributes['gpu.nvidia.com.example'].a", None, false),
            ("device.driver.startsWith('gpu.')", None, false),
            ("device.driver", None, false),
            ("'' == device.driver", Some(""), false),
            (
                "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type in ['gpu', 'mig']",
                Some("gpu.nvidia.com"),
                true,
            ),
            ("device.driver != 'dra.net' && device.driver == 'gpu.nvidia.com'", Some("gpu.nvidia.com"), true),
            ("device.driver == 'dra.net' || device.driver == 'gpu.nvidia.com'", Some("gpu.nvidia.com"), true),
            ("device.driver == 'dra.net' || device.driver == 'a.example'", Some("dra.net"), false),
        ] {
            let json = serde_json::json!({"spec": {"selectors": [{"cel": {"expression": expression}}]}});
            let class = read(&json.to_string()).unwrap().1;
            assert_eq!(class.driver.as_deref(), driver, "{expression}");
            assert_eq!(is_class_of_whole_accelerators("ours", Some(&class)), accelerator, "{expression}");
        }
    }

    #[test]
    fn a_driver_of_accelerators_counts_in_each_selector() {
        let selector = |expression: &str| serde_json::json!({"cel": {"expression": expression}});
        for second in ["device.driver == 'gpu.nvidia.com'", "device.attributes['gpu.nvidia.com'].a == 'b'"] {
            let selectors = [selector("device.driver == 'dra.net' || true"), selector(second)];
            let class = read(&serde_json::json!({"spec": {"selectors": selectors}}).to_string()).unwrap().1;
            assert_eq!(class.driver.as_deref(), Some("gpu.nvidia.com"), "{second}");
        }
    }

    #[test]
    fn a_text_that_no_driver_can_have_as_its_name_is_not_kept() {
        let driver = |expression: &str| compared_driver(expression).map(str::to_owned);
        let (longest, longer) = ("d".repeat(253), "d".repeat(254));
        assert_eq!(driver(&format!("device.driver == '{longest}'")), Some(longest));
        assert_eq!(driver(&format!("device.driver == '{longer}'")), None);
        assert_eq!(driver(&format!("'{longer}' == device.driver")), None);
        let other = format!("device.driver == '{longer}' || device.driver == 'dra.net'");
        assert_eq!(driver(&other).as_deref(), Some("dra.net"));
    }

    #[test]
    fn slices_are_not_accelerators() {
        let json = r#"{"spec":{"selectors":[{"cel":{"expression":"device.driver==\"gpu.nvidia.com\" && device.attributes['gpu.nvidia.com'].type == 'mig'"}}]}}"#;
        assert!(!is_class_of_whole_accelerators("mig.nvidia.com", Some(&read(json).unwrap().1)));
        assert!(is_class_of_whole_accelerators("gpu.nvidia.com", None));
        assert!(!is_class_of_whole_accelerators("mig.nvidia.com", None));
        assert!(is_class_of_whole_accelerators("gpu.nvidia.com", Some(&DeviceClass::default())));
    }
}

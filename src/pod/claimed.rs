//! Accelerators that a pod asks for by claims on devices (DRA), which its resources do not show.

use super::view::{PodClaim, PodView};
use crate::facts::device_class::is_accelerator;
use crate::facts::{DeviceClaim, DeviceRequest};
use crate::snapshot::Snapshot;
use std::collections::BTreeSet;

/// Whole accelerators that the claims of app containers and native sidecars hold (count); 0 for a pod without
/// claims. `None` where that is not known: the claim or its template is not at hand, it takes all devices of a node,
/// or it takes the first that is there of things that differ.
///
/// A claim that several containers use is one set of devices, shared by them, and counts once
/// (kubernetes/enhancements keps/sig-node/4381-dra-structured-parameters).
#[must_use]
pub fn claimed_accelerators(pod: &PodView<'_>, namespace: &str, snapshot: &Snapshot) -> Option<u32> {
    let sidecars = pod.init_containers().iter().filter(|c| c.is_sidecar());
    let uses = pod.containers().iter().chain(sidecars);
    let uses = uses.flat_map(|c| c.resources.iter().flat_map(|r| r.claims.as_deref().unwrap_or_default()));
    // The empty request stands for the whole claim.
    let uses: BTreeSet<(&str, &str)> = uses
        .map(|u| (u.name.as_deref().unwrap_or_default(), u.request.as_deref().unwrap_or_default()))
        .collect();
    let mut sum = 0_u32;
    for (name, request) in &uses {
        if !request.is_empty() && uses.contains(&(*name, "")) {
            continue;
        }
        let claim = claim(pod, namespace, name, snapshot)?;
        for asked in claim.requests.iter().filter(|r| names(request, r)) {
            sum = sum.saturating_add(accelerators(asked, snapshot)?);
        }
    }
    Some(sum)
}

/// A container may name one of several alternatives too, as `request/alternative`.
fn names(wanted: &str, request: &DeviceRequest) -> bool {
    wanted.is_empty() || wanted.split('/').next() == Some(&request.name)
}

fn claim<'s>(
    pod: &PodView<'_>,
    namespace: &str,
    name: &str,
    snapshot: &'s Snapshot,
) -> Option<&'s DeviceClaim> {
    let claims: &[PodClaim<'_>] = pod.spec.as_ref()?.resource_claims.as_deref().unwrap_or_default();
    let claim = claims.iter().find(|c| c.name.as_deref() == Some(name))?;
    match (claim.resource_claim_template_name.as_deref(), claim.resource_claim_name.as_deref()) {
        (Some(template), _) => snapshot.claim_template(namespace, template),
        (None, Some(claim)) => snapshot.claim(namespace, claim),
        (None, None) => None,
    }
}

/// Accelerators of one request; alternatives must agree.
fn accelerators(request: &DeviceRequest, snapshot: &Snapshot) -> Option<u32> {
    let mut counts = request.options.iter().map(|ask| {
        if is_accelerator(&ask.class, snapshot.device_class(&ask.class)) { ask.count } else { Some(0) }
    });
    let first = counts.next().unwrap_or(Some(0))?;
    counts.all(|c| c == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Builder, Layer};

    fn snapshot() -> Snapshot {
        let mut builder = Builder::default();
        let mut add = |kind: &str, name: &str, spec: &str| {
            let json = format!(r#"{{"metadata":{{"name":"{name}","namespace":"t"}},"spec":{spec}}}"#);
            builder.add(Layer::Input, "resource.k8s.io", kind, &json, "t").unwrap();
        };
        let template = |requests: &str| format!(r#"{{"spec":{{"devices":{{"requests":[{requests}]}}}}}}"#);
        let gpus = r#"{"name":"gpus","exactly":{"deviceClassName":"gpu.nvidia.com","count":4}},
            {"name":"nic","exactly":{"deviceClassName":"dranet"}}"#;
        add("ResourceClaimTemplate", "four", &template(gpus));
        let own = r#"{"name":"g","exactly":{"deviceClassName":"ours","count":2}}"#;
        add("ResourceClaim", "two", &format!(r#"{{"devices":{{"requests":[{own}]}}}}"#));
        let all = r#"{"exactly":{"deviceClassName":"gpu.nvidia.com","allocationMode":"All"}}"#;
        add("ResourceClaimTemplate", "all", &template(all));
        let either = r#"{"firstAvailable":[{"deviceClassName":"gpu.nvidia.com","count":1},{"deviceClassName":"ours","count":2}]}"#;
        add("ResourceClaimTemplate", "either", &template(either));
        let ours = r#"{"selectors":[{"cel":{"expression":"device.driver == 'gpu.nvidia.com'"}}]}"#;
        add("DeviceClass", "ours", ours);
        builder.build()
    }

    fn claimed(claims: &str, used: &[&str]) -> Option<u32> {
        let containers: Vec<String> =
            used.iter().map(|u| format!(r#"{{"resources":{{"claims":[{u}]}}}}"#)).collect();
        let json =
            format!(r#"{{"spec":{{"resourceClaims":[{claims}],"containers":[{}]}}}}"#, containers.join(","));
        claimed_accelerators(&serde_json::from_str(&json).unwrap(), "t", &snapshot())
    }

    #[test]
    fn counts_what_classes_are_known_to_be() {
        let four = r#"{"name":"c","resourceClaimTemplateName":"four"}"#;
        assert_eq!(claimed(four, &[r#"{"name":"c"}"#]), Some(4));
        assert_eq!(claimed(four, &[r#"{"name":"c","request":"nic"}"#]), Some(0));
        assert_eq!(claimed(four, &[r#"{"name":"c"}"#, r#"{"name":"c","request":"gpus"}"#]), Some(4));
        assert_eq!(claimed(r#"{"name":"c","resourceClaimName":"two"}"#, &[r#"{"name":"c"}"#]), Some(2));
        assert_eq!(claimed(four, &[]), Some(0));
    }

    #[test]
    fn says_when_it_does_not_know() {
        for template in ["all", "either", "absent"] {
            let claim = format!(r#"{{"name":"c","resourceClaimTemplateName":"{template}"}}"#);
            assert_eq!(claimed(&claim, &[r#"{"name":"c"}"#]), None, "{template}");
        }
        assert_eq!(claimed("null", &[r#"{"name":"c"}"#]), None);
    }
}

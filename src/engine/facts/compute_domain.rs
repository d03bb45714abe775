//! ComputeDomain: NVLink over several nodes. NVIDIA's controller creates a ResourceClaimTemplate for its channel some
//! time after the object (NVIDIA/k8s-dra-driver-gpu cmd/compute-domain-controller), and pods of the gang name that
//! template from the start: the object shows what their claims will be.

use super::device_class::DevicesOfSelectors;
use super::object_shape::{MAX_NAME_LENGTH, Meta, Object, non_empty};
use super::{DeviceClaim, DeviceRequest, RequestedDevices};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::types_of_decoded_fields::optional_struct;
use serde::Deserialize;

/// Class of the claims on the channel of a ComputeDomain.
const IMEX_CHANNEL_CLASS: &str = "compute-domain-default-channel.nvidia.com";

/// The template that the controller creates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImexChannelClaimTemplate {
    /// Name of the ResourceClaimTemplate, in the namespace of the ComputeDomain.
    pub name: String,
    /// The devices that its claims request: one channel.
    pub claim: std::sync::Arc<DeviceClaim>,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default, deserialize_with = "optional_struct")]
    channel: Option<Channel>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Channel {
    #[serde(default, deserialize_with = "optional_struct")]
    resource_claim_template: Option<Template>,
}

#[derive(Default, Deserialize)]
struct Template {
    #[serde(default)]
    name: Option<String>,
}

pub(super) fn read(json: &str) -> Result<(Meta, Option<ImexChannelClaimTemplate>), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    let template = spec.and_then(|s| s.channel?.resource_claim_template);
    // No template has a longer name, and the CRD of ComputeDomain does not limit it: tenants write ComputeDomains.
    let name = template.and_then(|t| non_empty(t.name)).filter(|name| name.len() <= MAX_NAME_LENGTH);
    let found = name.map(|name| {
        let channel = RequestedDevices {
            class: IMEX_CHANNEL_CLASS.to_owned(),
            count: Some(1),
            selected: DevicesOfSelectors::default(),
        };
        let request = DeviceRequest { name: "channel".to_owned(), options: vec![channel] };
        let claim = DeviceClaim { requests: vec![request], functions: Vec::new() };
        ImexChannelClaimTemplate { name, claim: claim.into() }
    });
    Ok((meta, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_template_of_the_channel() {
        let json = r#"{"metadata":{"name":"d"},"spec":{"numNodes":"__N__","channel":{"resourceClaimTemplate":{"name":"t"}}}}"#;
        let found = read(json).unwrap().1.unwrap();
        assert_eq!(
            (found.name.as_str(), found.claim.requests[0].options[0].class.as_str()),
            ("t", IMEX_CHANNEL_CLASS)
        );
        for none in
            [r#"{"spec":{"channel":null}}"#, r#"{"spec":{"channel":{"resourceClaimTemplate":{"name":""}}}}"#]
        {
            assert_eq!(read(none).unwrap().1, None);
        }
    }

    #[test]
    fn a_name_that_no_template_can_have_is_not_kept() {
        let read = |length: usize| {
            let name = "n".repeat(length);
            read(&format!(r#"{{"spec":{{"channel":{{"resourceClaimTemplate":{{"name":"{name}"}}}}}}}}"#))
                .unwrap()
                .1
        };
        assert!(read(253).is_some() && read(254).is_none());
    }
}

//! FAB116: requests of a pod that its network does not take.

use super::attached::attached;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB116.
pub(super) struct Capabilities;

static CAPABILITIES: Meta = Meta {
    id: "FAB116",
    severity: Severity::Warning,
    summary: "an address, MAC or GUID that the network does not take from pods",
    what: "The networks annotation asks for `ips`, `mac` or `infiniband-guid`, and no plugin of the network declares the \
           capability (`ips`, `mac`, `infinibandGUID`). Networks that are not known are passed over.",
    why: "Multus hands the request over as a capability, and libcni passes only those on that a plugin declares: the pod \
          gets another address, without a word.",
    fix: "Declare it in the network's configuration, as in `\"capabilities\": {\"ips\": true}`, or drop the request.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: storage, namespace: default}
spec:
  config: '{"type": "macvlan", "master": "ens1f0", "ipam": {"type": "static"}}'
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: default
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "storage", "ips": ["10.1.0.7/16"]}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: storage, namespace: default}
spec:
  config: '{"type": "macvlan", "master": "ens1f0", "capabilities": {"ips": true}, "ipam": {"type": "static"}}'
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: default
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "storage", "ips": ["10.1.0.7/16"]}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &[
        "containernetworking/cni CONVENTIONS.md, libcni/api.go (injectRuntimeConfig)",
        "k8snetworkplumbingwg/multus-cni docs/how-to-use.md",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NAD-018"],
    waiver: Waiver::Allowed,
};

impl Rule for Capabilities {
    fn meta(&self) -> &'static Meta {
        &CAPABILITIES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for attachment in attached(context) {
            let Some(requests) = attachment.item.requests.as_deref() else { continue };
            let Some(fact) = attachment.fact.filter(|f| f.addressing.known) else { continue };
            let takes = fact.addressing.capabilities;
            let asked = [
                ("ips", "ips", !requests.ips.is_empty() && !takes.ips),
                ("mac", "mac", requests.mac.is_some() && !takes.mac),
                ("infiniband-guid", "infinibandGUID", requests.guid.is_some() && !takes.guid),
            ];
            for (key, capability, _) in asked.into_iter().filter(|(.., lost)| *lost) {
                findings.add(
                    annotation_path(),
                    format!(
                        "item {} asks {key} of {} ({}), which does not declare capability {capability}: it is passed over",
                        attachment.place,
                        attachment.told(),
                        fact.origin
                    ),
                    format!("declare \"capabilities\": {{\"{capability}\": true}} in the network, or drop {key}"),
                );
            }
        }
    }
}

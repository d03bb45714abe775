//! FAB104: networks that a pod names itself, under a profile that serves them.

use crate::multus::{NODE_SELECTOR_ANNOTATION, NodeLabel, Selection};
use crate::plan::{Edit, serves_namespace};
use crate::profile::schema::Inject;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{printable, token};

/// FAB104.
pub(super) struct PodNetworks;

static POD_NETWORKS: Meta = Meta {
    id: "FAB104",
    severity: Severity::Error,
    summary: "a network that the pod names cannot be served",
    what: "Under a profile with `inject: networks`: a network of the annotation that does not exist, once the cluster's \
           networks are known, or whose annotation `k8s.v1.cni.cncf.io/nodeSelector` is no label. As a warning: a network \
           of another namespace than the pod's own and `default`, of which nothing is looked up, and a label that the pod \
           asks with another value.",
    why: "Multus fails the sandbox of a pod whose network it cannot find (`cannot find a network-attachment-definition`), \
          and the pod stays in ContainerCreating. Without the label the pod may land on a node that lacks the network.",
    fix: "Create the NetworkAttachmentDefinition or mend its name; write the node selector as one `key=value`.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {base: nri-compat}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: storage
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/nodeSelector: rack=a=b}
spec: {config: '{"type": "macvlan", "master": "ens1f0np0"}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: reader
  annotations: {fabric-admission.dev/profile: site, k8s.v1.cni.cncf.io/networks: storage}
spec:
  containers:
  - name: reader
    image: example.com/reader:1
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {base: nri-compat}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: storage
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/nodeSelector: rack=a}
spec: {config: '{"type": "macvlan", "master": "ens1f0np0"}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: reader
  annotations: {fabric-admission.dev/profile: site, k8s.v1.cni.cncf.io/networks: storage}
spec:
  containers:
  - name: reader
    image: example.com/reader:1
"#,
    sources: &[
        "k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go (getKubernetesDelegate)",
        "k8snetworkplumbingwg/network-resources-injector README.md, #78, #231",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NAD-021"],
    waiver: Waiver::Allowed,
};

/// Networks that are told of one pod.
const MAX_TOLD: usize = 16;

impl Rule for PodNetworks {
    fn meta(&self) -> &'static Meta {
        &POD_NETWORKS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, _)) = context.resolution.profile() else { return };
        let serves = profile.inject == Inject::Networks && context.plan.withheld.is_none();
        let Some(Ok(networks)) = context.networks.filter(|_| serves) else { return };
        let mut told: Vec<(&str, &str)> = Vec::new();
        for item in &networks.items {
            let namespace = item.namespace.as_deref().unwrap_or(context.namespace);
            if told.len() == MAX_TOLD || told.contains(&(namespace, &item.name)) {
                continue;
            }
            if profile.rail_on(namespace, &item.name, context.namespace).is_none()
                && check(context, item, namespace, findings)
            {
                told.push((namespace, &item.name));
            }
        }
    }
}

/// Tells what is wrong with one network, and whether anything is.
fn check(
    context: &PodContext<'_>,
    item: &Selection<'_>,
    namespace: &str,
    findings: &mut Findings<'_>,
) -> bool {
    let network = format!("{namespace}/{}", printable(&item.name, 100));
    if !serves_namespace(context.namespace, namespace) {
        findings.add_as(
            Severity::Warning,
            annotation_path(),
            format!("network {network} is of another namespace: nothing is added for it"),
            "move it to the pod's namespace or to default, or ask its resource in the pod",
        );
        return true;
    }
    let Some(fact) = context.snapshot.network(namespace, &item.name) else {
        if context.snapshot.lists_networks() {
            findings.add(
                annotation_path(),
                format!("network {network} does not exist"),
                "create the NetworkAttachmentDefinition, or mend its name and namespace",
            );
        }
        return context.snapshot.lists_networks();
    };
    let Some(text) = fact.node_selector.as_deref() else { return false };
    let Some(label) = NodeLabel::parse(text) else {
        findings.add(
            annotation_path(),
            format!("network {network}: {NODE_SELECTOR_ANNOTATION} {:?} is no label", printable(text, 40)),
            "write one key=value there",
        );
        return true;
    };
    let planned = context.plan.changes.iter().find_map(|c| match &c.edit {
        Edit::NodeSelector { key, value } if key == label.key => Some(value.as_str()),
        _ => None,
    });
    let asked = planned.or_else(|| context.pod().node_selector_value(label.key));
    if let Some(other) = asked.filter(|value| *value != label.value) {
        findings.add_as(
            Severity::Warning,
            format!("/spec/nodeSelector/{}", token(label.key)),
            format!(
                "the pod asks {}={}, network {network} is on nodes with {:?}",
                printable(label.key, 60),
                printable(other, 40),
                label.value
            ),
            "drop the one that is wrong: no node may have both",
        );
        return true;
    }
    false
}

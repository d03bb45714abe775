//! FAB8xx: what resolution found out about profiles and nodes.

use crate::facts::PROFILE_ANNOTATION;
use crate::nodes::{Constraints, landing};
use crate::plan::{Edit, by_itself};
use crate::profile::Profile;
use crate::resolve::{Because, Evidence, Missing, Resolution, SHOWN, awaits, without_others};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::snapshot::Ambiguity;
use crate::text::printable;

/// FAB801.
pub(super) struct MissingRails;

static MISSING_RAILS: Meta = Meta {
    id: "FAB801",
    severity: Severity::Error,
    summary: "networks or resources of the profile do not exist",
    what: "A network of the profile's rails is not among the NetworkAttachmentDefinitions of the cluster, or none of \
           the profile's nodes knows a resource that it asks for. Checked where a list of networks, or nodes with their \
           extended resources, is known. An error where the pod or its namespace names the profile, else a warning. \
           With a network missing nothing is injected; a resource is asked for all the same, since its plugin may be \
           starting.",
    why: "With a network that does not exist the pod stays in ContainerCreating (`cannot find a \
          network-attachment-definition`); with a resource that no node has it stays Pending (`Insufficient`).",
    fix: "Create the network or the device pool, or mend the profile's rails and resources.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: roce-sriov
  nodeSelector: {matchLabels: {fabric: roce}}
  rails: [{network: default/roce, resource: nvidia.com/roce_rail}]
---
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {fabric: roce}}
status: {allocatable: {nvidia.com/gpu: "8", nvidia.com/roce_rails: "8"}}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: roce-sriov
  nodeSelector: {matchLabels: {fabric: roce}}
  rails: [{network: default/roce, resource: nvidia.com/roce_rails}]
---
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {fabric: roce}}
status: {allocatable: {nvidia.com/gpu: "8", nvidia.com/roce_rails: "8"}}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    sources: &[
        "k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go, getKubernetesDelegate",
        "docs/design.md, Resolution",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for MissingRails {
    fn meta(&self) -> &'static Meta {
        &MISSING_RAILS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, evidence)) = context.resolution.profile() else { return };
        let missing = &context.plan.missing;
        let Some(first) = missing.first() else { return };
        // By what the namespace says, not by the evidence: what is injected becomes evidence of its own.
        let default = context.namespace_facts.and_then(|f| f.profile.as_deref());
        let named = *evidence == Evidence::PodAnnotation
            || *evidence != Evidence::Flag && default == Some(profile.name.as_str());
        let severity = if named { Severity::Error } else { Severity::Warning };
        let more = match missing.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (verb, fix) = match first {
            Missing::Network(_) => {
                ("does not exist", "create the NetworkAttachmentDefinition, or mend the rails")
            }
            Missing::Resource(_) => {
                ("is on none of its nodes", "create the device pool, or mend the profile")
            }
        };
        let message = format!("profile {}: {first}{more} {verb}", profile.name);
        findings.add_as(severity, "", message, format!("{fix} of profile {}", profile.name));
    }
}

/// FAB806.
pub(super) struct AmbiguousProfile;

static AMBIGUOUS: Meta = Meta {
    id: "FAB806",
    severity: Severity::Error,
    summary: "several profiles fit the pod, and nothing decides between them",
    what: "The nodes that the pod can land on carry different fabrics; or none of them exists now and the pod's \
           selectors fit the nodes of several profiles. A warning where only the pod's own resources and networks \
           belong to several profiles, or where the cluster is set to warn; information where the pod would get nothing \
           from any profile: it opts out, or uses the node's network.",
    why: "What is injected for one fabric does not work on another: ranks of one job on different fabrics hang in \
          `ncclCommInitRank` or run over TCP.",
    fix: "Name the profile with annotation `fabric-admission.dev/profile`, or narrow `nodeSelector` to the nodes of one \
          fabric.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: east}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: east}}}
---
apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: west}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: west}}}
---
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {fabric: east}}
---
apiVersion: v1
kind: Node
metadata: {name: gpu-2, labels: {fabric: west}}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: east}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: east}}}
---
apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: west}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: west}}}
---
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {fabric: east}}
---
apiVersion: v1
kind: Node
metadata: {name: gpu-2, labels: {fabric: west}}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  nodeSelector: {fabric: east}
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    sources: &["docs/design.md, Resolution", "docs/adr/0009-one-profile-a-gang.md"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for AmbiguousProfile {
    fn meta(&self) -> &'static Meta {
        &AMBIGUOUS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Resolution::Ambiguous { candidates, because } = context.resolution else { return };
        let mut names: Vec<&str> = candidates.iter().take(SHOWN).map(|p| p.name.as_str()).collect();
        let rest = candidates.len().saturating_sub(SHOWN);
        let more = format!("{rest} more");
        if rest > 0 {
            names.push(&more);
        }
        let names = names.join(", ");
        let why = match because {
            Because::Nodes => "the nodes it can land on carry several profiles",
            Because::Selectors => {
                "no node that it can land on exists now, and its selectors fit several profiles"
            }
            Because::Own => "its own resources and networks belong to several profiles",
        };
        let first = candidates.first();
        let label = first.and_then(|p| p.node_selector.as_ref()?.match_labels.iter().next());
        let selector = label.map(|(k, v)| format!(", or nodeSelector {k}: {v}")).unwrap_or_default();
        let name = first.map_or("NAME", |p| p.name.as_str());
        let fix = match because {
            Because::Own => "ask resources and networks of one profile only".to_owned(),
            _ => format!("for {name} write annotation {PROFILE_ANNOTATION}: {name}{selector}"),
        };
        let severity = match (because, context.snapshot.settings().ambiguity) {
            // A pod that would get nothing from any of them loses nothing.
            _ if candidates.iter().all(|p| by_itself(context.pod(), p).is_some()) => Severity::Info,
            (Because::Own, _) | (_, Ambiguity::Warn) => Severity::Warning,
            _ => Severity::Error,
        };
        findings.add_as(severity, "", format!("{why} ({names}); nothing is injected"), fix);
    }
}

/// FAB807.
pub(super) struct OtherNodes;

static OTHER_NODES: Meta = Meta {
    id: "FAB807",
    severity: Severity::Warning,
    summary: "the pod cannot land on the nodes of its profile",
    what: "The profile was named, or found by the pod's own resources and networks, and its nodes exist; the pod's \
           `nodeSelector`, node affinity or missing tolerations keep it off all of them.",
    why: "The pod asks for rails that are not where it may go: it stays Pending (`didn't match Pod's node \
          affinity/selector`, `Insufficient`), or runs on nodes of another fabric.",
    fix: "Let the pod land on the profile's nodes, or name the profile of the nodes it goes to.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: east}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: east}}}
---
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {fabric: east, pool: a}}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: east}
spec:
  nodeSelector: {pool: b}
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: east}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: east}}}
---
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {fabric: east, pool: a}}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: east}
spec:
  nodeSelector: {pool: a}
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    sources: &["kubernetes.io, Assigning Pods to Nodes", "kubernetes.io, Taints and Tolerations"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for OtherNodes {
    fn meta(&self) -> &'static Meta {
        &OTHER_NODES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, evidence)) = context.resolution.profile() else { return };
        if matches!(evidence, Evidence::Nodes | Evidence::Selectors | Evidence::Priority | Evidence::Flag) {
            return;
        }
        let nodes = context.snapshot.nodes();
        let Some(carrying) = context.snapshot.catalog().classes_of(&profile.name) else { return };
        if carrying.is_clear() {
            return;
        }
        let constraints = constraints(context, profile);
        if constraints.unread {
            return;
        }
        let landing = landing(&constraints, nodes);
        let waits = || {
            awaits(
                profile,
                &constraints,
                &landing,
                (context.namespace, context.namespace_facts),
                context.snapshot,
            )
        };
        if !landing.is_disjoint(carrying) || !is_named(evidence) && waits() {
            return;
        }
        // What keeps it off is the pod's own text; how many nodes there are is the operator's to know.
        let by = crate::nodes::dropped(&constraints, nodes, carrying);
        let by: Vec<String> = by.iter().take(3).map(|d| printable(&d.by, 80)).collect();
        let message = format!("the pod cannot land on a node of profile {}: {}", profile.name, by.join("; "));
        findings.add("/spec", message, "mend that, or name the profile of the nodes it goes to");
    }
}

/// Whether the profile was named for this pod, and will be for the pod that is stored. A namespace's default is not:
/// once the pod has what the profile gives it, that is the evidence.
fn is_named(evidence: &Evidence) -> bool {
    matches!(evidence, Evidence::Flag | Evidence::PodAnnotation)
}

fn is_placed(context: &PodContext<'_>) -> bool {
    context.plan.changes.iter().any(|c| matches!(c.edit, Edit::NodeRequirement { .. }))
}

/// What says where the pod may go, with the placement that is planned.
fn constraints<'a>(context: &'a PodContext<'_>, profile: &'a Profile) -> Constraints<'a> {
    let constraints = Constraints::of(context.pod());
    match &profile.node_selector {
        Some(selector) if is_placed(context) => constraints.kept_to(selector),
        _ => constraints,
    }
}

/// FAB808.
pub(super) struct PoolAtZero;

static POOL_AT_ZERO: Meta = Meta {
    id: "FAB808",
    severity: Severity::Info,
    summary: "no node that the pod can land on exists now; its profile follows from selectors",
    what: "Nodes are known, none of those that the pod can land on carries a profile, and the pod's selectors fit the \
           nodes of one profile only. That profile is taken, as its peers get once the pool has grown.",
    why: "The pool may be at zero, waiting for an autoscaler; or the pod asks for labels that no node will ever have.",
    fix: "Nothing, where the pool grows on demand; else mend the pod's `nodeSelector`.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: east}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: east}}}
---
apiVersion: v1
kind: Node
metadata: {name: cpu-1, labels: {fabric: none}}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  nodeSelector: {fabric: east}
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: east}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: east}}}
---
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {fabric: east}}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  nodeSelector: {fabric: east}
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
"#,
    sources: &["docs/design.md, Resolution"],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for PoolAtZero {
    fn meta(&self) -> &'static Meta {
        &POOL_AT_ZERO
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some((profile, evidence)) = context.resolution.profile() else { return };
        let nodes = context.snapshot.nodes();
        // Most pods: they got their profile by nodes that exist.
        let by_nodes = matches!(evidence, Evidence::Nodes | Evidence::Priority);
        if nodes.is_empty() || by_nodes || is_named(evidence) {
            return;
        }
        // Once a pod has what the profile gives it, that is the evidence; nothing else about it has changed.
        if *evidence != Evidence::Selectors {
            let constraints = constraints(context, profile);
            if constraints.unread {
                return;
            }
            let landing = without_others(landing(&constraints, nodes), &constraints, context.snapshot);
            let facts = (context.namespace, context.namespace_facts);
            let carrying = context.snapshot.catalog().classes_of(&profile.name);
            if carrying.is_none_or(|carrying| !landing.is_disjoint(carrying))
                || !awaits(profile, &constraints, &landing, facts, context.snapshot)
            {
                return;
            }
        }
        let carrying = context.snapshot.catalog().classes_of(&profile.name).filter(|c| !c.is_clear());
        let by = carrying.map(|c| crate::nodes::dropped(&constraints(context, profile), nodes, c));
        let by = by.iter().flatten().next().map(|d| format!(" ({} keeps it off)", printable(&d.by, 80)));
        let message = format!(
            "no node that this pod can land on exists now{}; profile {} follows from its selectors",
            by.unwrap_or_default(),
            profile.name
        );
        findings.add(
            "/spec",
            message,
            "nothing where its pool grows on demand, else mend the pod's nodeSelector",
        );
    }
}

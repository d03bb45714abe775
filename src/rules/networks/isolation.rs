//! FAB150: networks of other namespaces, where the cluster keeps namespaces apart.

use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;
use std::collections::HashSet;

/// FAB150.
pub(super) struct Isolation;

static ISOLATION: Meta = Meta {
    id: "FAB150",
    severity: Severity::Error,
    summary: "a network of another namespace, in a cluster that keeps namespaces apart",
    what: "With setting `--namespace-isolation`: every network of the annotation must be of the pod's own namespace, of \
           `default`, or of a namespace that the rails of the pod's profile name. Off by default, as in Multus.",
    why: "With `namespaceIsolation` Multus refuses such a network (`namespace isolation enabled, annotation violates \
          permission`), and the pod stays in ContainerCreating. Where Multus does not keep namespaces apart, any pod can \
          attach itself to any tenant's network.",
    fix: "Use a network of the pod's own namespace; or let a FabricProfile that admits the namespace name it as a rail.",
    bad: "",
    good: "",
    sources: &[
        "k8snetworkplumbingwg/multus-cni docs/configuration.md (namespaceIsolation, globalNamespaces)",
        "k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go (isValidNamespaceReference)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["ANN-008"],
    waiver: Waiver::Isolation,
};

impl Rule for Isolation {
    fn meta(&self) -> &'static Meta {
        &ISOLATION
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if !context.snapshot.settings().namespace_isolation {
            return;
        }
        let Some(Ok(networks)) = context.final_networks else { return };
        let profile = context.resolution.profile().map(|(p, _)| p);
        let of_rails = |namespace: &str| {
            profile.is_some_and(|p| p.rails.iter().any(|r| r.network.namespace.as_deref() == Some(namespace)))
        };
        let mut told = HashSet::new();
        for item in &networks.items {
            let Some(namespace) = item.namespace.as_deref() else { continue };
            let open = namespace == context.namespace || namespace == "default";
            if !open && !told.contains(namespace) && !of_rails(namespace) {
                told.insert(namespace);
                findings.add(
                    annotation_path(),
                    format!(
                        "network {}/{} is of another namespace, and this cluster keeps namespaces apart",
                        printable(namespace, 63),
                        printable(&item.name, 100)
                    ),
                    "use a network of the pod's own namespace",
                );
            }
        }
    }
}

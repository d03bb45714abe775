//! FAB150: network of another namespace under namespace isolation.

use crate::rules::finding::{Findings, Severity};
use crate::rules::paths::annotation_path;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, Waiver, files};
use crate::text::printable;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB150",
    severity: Severity::Error,
    files: files!(no_example: "only a cluster setting makes it report"),
    waiver: Waiver::Isolation,
    reach: Reach::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if !context.subject.snapshot.settings().namespace_isolation {
        return;
    }
    let Some(Ok(networks)) = context.final_networks else { return };
    let profile = context.resolution.profile().map(|(p, _)| p);
    let of_rails = |namespace: &str| {
        profile.is_some_and(|p| p.rails.iter().any(|r| r.network.namespace.as_deref() == Some(namespace)))
    };
    let mut reported = HashSet::new();
    for item in &networks.items {
        let Some(namespace) = item.namespace.as_deref() else { continue };
        let open = namespace == context.subject.namespace || namespace == "default";
        if !open && !reported.contains(namespace) && !of_rails(namespace) {
            reported.insert(namespace);
            findings.add(
                annotation_path(),
                format!(
                    "network {}/{} is in another namespace, and this cluster isolates namespaces: Multus refuses the pod",
                    printable(namespace, 63),
                    printable(&item.name, 100)
                ),
                "Use a network of the pod's own namespace.",
            );
        }
    }
}

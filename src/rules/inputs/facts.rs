//! FAB809: objects that cannot be read as the facts they are.

use crate::facts::kind::READABLE;
use crate::facts::{self, Kind};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB809.
pub(super) struct UnreadableFact;

static UNREADABLE_FACT: Meta = Meta {
    id: "FAB809",
    severity: Severity::Warning,
    summary: "an object that other decisions ask for cannot be read",
    what: "Reads the fields that decisions on pods need of namespaces, network objects, device plugin configurations \
           and DRA objects. Other fields are not looked at, and `null` counts as absent.",
    why: "A value of another type than its kind has is refused by the API server, so the object will not be there when \
          the pods come. Here it is left out: what it would say is unknown, and rules that need it say nothing.",
    fix: "Give the value the type that the kind's schema wants; a number or `true` in quotes is text.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: [rail0]   # a list
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rail0
"#,
    sources: &["kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/runtime/serializer/json/json.go"],
    since: "0.1.0",
    kinds: READABLE,
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for UnreadableFact {
    fn meta(&self) -> &'static Meta {
        &UNREADABLE_FACT
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(kind) = Kind::of(context.group, context.kind) else { return };
        if let Err(error) = facts::check(kind, context.json) {
            findings.add(
                error.pointer,
                format!(
                    "{} cannot be read as a fact: {}; what it says is unknown",
                    kind.name(),
                    error.message
                ),
                "give the value the type that the kind's schema wants",
            );
        }
    }
}

//! FAB150: network of another namespace although --namespace-isolation is set.

mod claim_objects;
mod claims;

use self::claims::USE_OWN_NAMESPACE;
use crate::multus::{
    self, AnnotationError, DEFAULT_NETWORK_ANNOTATION, NETWORKS_ANNOTATION, RequestedAttachment,
};
use crate::pod::PodView;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_kinds::{RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::{annotation, networks_annotation};
use crate::rules::rule_declaration::{MayBeIgnored, PodsChecked, Rule, files};
use crate::text::escaped_and_cut;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB150",
    severity: Severity::Error,
    files: files!(no_example: "the rule reports only if a cluster setting is on"),
    kinds: &[RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE],
    waiver: MayBeIgnored::Isolation,
    reach: PodsChecked::Any,
    on_change: true,
    pod: Some(check),
    object: Some(claim_objects::report_claim_object),
    ..Rule::DEFAULT
};

/// Namespace in which Multus looks up default networks (multus-cni docs/configuration.md, multusNamespace).
const MULTUS_NAMESPACE: &str = "kube-system";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if !context.subject.snapshot.settings().namespace_isolation {
        return;
    }
    let own = context.subject.namespace;
    let profile = context.resolution.profile().map(|(p, _)| p);
    let rails = profile.iter().flat_map(|p| &p.rails);
    let of_rails: HashSet<&str> = rails.filter_map(|r| r.network.namespace.as_deref()).collect();
    let open = |namespace: &str| namespace == own || namespace == "default" || of_rails.contains(namespace);
    // The claims of a stored pod cannot change (k8s.io/kubernetes pkg/apis/core/validation, ValidatePodUpdate).
    if context.before.is_none() {
        claims::report_claims_of_pod(context, &open, findings);
    }
    // No CNI plugin runs for a hostNetwork pod. But the DRA driver sets up the devices of its claims.
    if context.pod().host_network() {
        return;
    }
    // The check reads all networks, however many there are.
    let whole = match context.final_networks {
        Some(Err(AnnotationError::TooMany(_))) => {
            context.pod().annotation(NETWORKS_ANNOTATION).and_then(|text| multus::parse_all(text).ok())
        }
        _ => None,
    };
    let readable = context.final_networks.and_then(|networks| networks.as_ref().ok()).or(whole.as_ref());
    let before = context.before.map(|pod| NamedNetworks::of(pod, NETWORKS_ANNOTATION)).unwrap_or_default();
    if let Some(networks) = readable {
        report_networks(&networks.items, Named::BesideDefault, (context, &before), &open, findings);
    } else if context.final_networks.is_some() && before.text != context.pod().annotation(NETWORKS_ANNOTATION)
    {
        findings.add(networks_annotation(), UNREADABLE, CORRECT);
    }
    let before =
        context.before.map(|pod| NamedNetworks::of(pod, DEFAULT_NETWORK_ANNOTATION)).unwrap_or_default();
    let Some(text) = context.pod().annotation(DEFAULT_NETWORK_ANNOTATION) else { return };
    if before.text == Some(text) {
        return;
    }
    // Multus itself does not check the default network (pkg/k8sclient/k8sclient.go, tryLoadK8sPodDefaultNetwork).
    let open = |namespace: &str| namespace == MULTUS_NAMESPACE || open(namespace);
    match multus::parse_all(text) {
        Err(_) => findings.add(annotation(DEFAULT_NETWORK_ANNOTATION), UNREADABLE, CORRECT),
        Ok(networks) => {
            report_networks(&networks.items, Named::AsDefault, (context, &before), &open, findings);
        }
    }
}

/// Which annotation names a network: Multus decodes both alike, and gives the default network's requests to its plugin too
/// (pkg/k8sclient/k8sclient.go, parsePodNetworkAnnotation).
#[derive(Debug, Clone, Copy)]
enum Named {
    BesideDefault,
    AsDefault,
}

impl Named {
    fn path(self) -> String {
        match self {
            Self::BesideDefault => networks_annotation(),
            Self::AsDefault => annotation(DEFAULT_NETWORK_ANNOTATION),
        }
    }

    fn refusal_in_words(self, namespace: &str, name: &str) -> String {
        let (namespace, name) = (escaped_and_cut(namespace, 63), escaped_and_cut(name, 100));
        match self {
            Self::BesideDefault => format!(
                "network {namespace}/{name} is in another namespace, but this cluster isolates namespaces: Multus refuses the pod"
            ),
            Self::AsDefault => format!(
                "default network {namespace}/{name} is in another namespace, but this cluster isolates namespaces"
            ),
        }
    }
}

/// Reports the networks of an annotation that are new and not open, and the first setting of an interface that is new.
fn report_networks(
    items: &[RequestedAttachment<'_>],
    named: Named,
    (context, before): (&PodContext<'_>, &NamedNetworks<'_>),
    open: &dyn Fn(&str) -> bool,
    findings: &mut FindingsOfRule<'_>,
) {
    let mut identity = items.iter().flat_map(identity_of_interface);
    let new = identity.find(|of| !context.may_carry_guids && !before.identity.contains(of));
    if let Some((key, _)) = new {
        let what = match named {
            Named::BesideDefault => "networks annotation",
            Named::AsDefault => "annotation of the default network",
        };
        let message = format!(
            "the {what} sets {key}, but this cluster isolates namespaces: with it, a pod can take the port or the addresses of another tenant's pod"
        );
        findings.add(named.path(), message, format!("Remove {key}."));
    }
    let mut reported = HashSet::new();
    for item in items {
        let Some(namespace) = item.namespace.as_deref() else { continue };
        if open(namespace) || reported.contains(namespace) {
            continue;
        }
        // Each further message would cost many times its network's text.
        if findings.must_stop_reporting() {
            break;
        }
        if !before.networks.contains(&(namespace.to_owned(), item.name.to_string())) {
            reported.insert(namespace);
            findings.add(named.path(), named.refusal_in_words(namespace, &item.name), USE_OWN_NAMESPACE);
        }
    }
}

/// What an element says about its interface that only the network's owner, or ib-kubernetes, should say.
fn identity_of_interface(item: &RequestedAttachment<'_>) -> impl Iterator<Item = (&'static str, String)> {
    let identity = item.requests.iter().flat_map(|requests| &requests.identity);
    identity.map(|(key, value)| (*key, value.to_string()))
}

const UNREADABLE: &str = "this cluster isolates namespaces, but the networks annotation cannot be parsed: the networks' namespaces are not known";
const CORRECT: &str = "Write a list that Multus can read, such as \"net-a,net-b\".";

/// The networks that an annotation named before it changed. A network that the pod already had is not refused.
#[derive(Default)]
struct NamedNetworks<'a> {
    text: Option<&'a str>,
    networks: HashSet<(String, String)>,
    identity: HashSet<(&'static str, String)>,
}

impl<'a> NamedNetworks<'a> {
    fn of(pod: &'a PodView<'a>, key: &str) -> Self {
        let text = pod.annotation(key);
        let networks = text.and_then(|text| multus::parse_all(text).ok());
        let items = || networks.iter().flat_map(|n| &n.items);
        let named =
            items().filter_map(|item| Some((item.namespace.as_deref()?.to_owned(), item.name.to_string())));
        Self { text, networks: named.collect(), identity: items().flat_map(identity_of_interface).collect() }
    }
}

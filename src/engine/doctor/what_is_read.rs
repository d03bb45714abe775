//! What the checks read from the API server. The list is also the list of the rights that `doctor` needs.

use super::names_of_our_objects::{NAME, VALIDATING};

/// Where the objects of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// In no namespace.
    Cluster,
    /// In all namespaces.
    AllNamespaces,
    /// In the namespace of the installation.
    Installation,
    /// In the namespace `default`.
    Default,
}

/// Which objects are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// All.
    All,
    /// Those of these names, one by one: rights are often limited to names.
    Named(&'static [&'static str]),
    /// Those with these labels.
    Labelled(&'static str),
}

/// How checks get the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Checks see the objects.
    Objects,
    /// The objects are facts of the Snapshot: 130,000 nodes as generic documents would take gigabytes.
    Snapshot,
    /// Only results leave the place where the objects are read: a Secret has a key.
    Results,
}

/// Objects of one kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Version.
    pub version: &'static str,
    /// Name in paths.
    pub plural: &'static str,
    /// Where they are.
    pub within: Within,
    /// Which of them.
    pub pick: Pick,
    /// Their form.
    pub form: Form,
}

impl Source {
    const fn of(group: &'static str, version: &'static str, plural: &'static str) -> Self {
        let (within, pick, form) = (Within::Cluster, Pick::All, Form::Objects);
        Self { group, version, plural, within, pick, form }
    }

    /// The verb of the read.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        if matches!(self.pick, Pick::Named(_)) { "get" } else { "list" }
    }

    /// Path of the collection.
    #[must_use]
    pub fn path(&self, namespace: &str) -> String {
        let root = if self.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", self.group) };
        match self.within {
            Within::Installation => format!("{root}/{}/namespaces/{namespace}/{}", self.version, self.plural),
            Within::Default => format!("{root}/{}/namespaces/default/{}", self.version, self.plural),
            Within::Cluster | Within::AllNamespaces => format!("{root}/{}/{}", self.version, self.plural),
        }
    }
}

const CORE: &str = "";
const WEBHOOKS: &str = "admissionregistration.k8s.io";
/// Labels of the server's pods.
pub const POD_LABELS: [(&str, &str); 2] =
    [("app.kubernetes.io/name", NAME), ("app.kubernetes.io/component", "webhook")];

const fn ours(source: Source, pick: Pick) -> Source {
    Source { within: Within::Installation, pick, ..source }
}

const fn everywhere(source: Source) -> Source {
    Source { within: Within::AllNamespaces, ..source }
}

const fn as_facts(source: Source) -> Source {
    Source { form: Form::Snapshot, ..source }
}

/// Namespaces.
pub static NAMESPACES: Source = Source::of(CORE, "v1", "namespaces");
/// Nodes.
pub static NODES: Source = as_facts(Source::of(CORE, "v1", "nodes"));
/// Networks.
pub static NETWORKS: Source =
    as_facts(everywhere(Source::of("k8s.cni.cncf.io", "v1", "network-attachment-definitions")));
/// FabricProfiles, those of the server's files included.
pub static PROFILES: Source = Source::of("fabric-admission.dev", "v1alpha1", "fabricprofiles");
/// Files of FabricProfiles.
pub static CONFIG_MAPS: Source = Source {
    form: Form::Results,
    ..ours(Source::of(CORE, "v1", "configmaps"), Pick::Named(&["fabric-admission-profiles"]))
};
/// Name of the CRD of FabricProfile.
pub const PROFILE_CRD: &str = "fabricprofiles.fabric-admission.dev";
/// Name of the CRD of Multus' networks.
pub const NETWORK_CRD: &str = "network-attachment-definitions.k8s.cni.cncf.io";
/// Definitions of custom resources.
pub static CRDS: Source = Source {
    pick: Pick::Named(&[PROFILE_CRD, NETWORK_CRD]),
    ..Source::of("apiextensions.k8s.io", "v1", "customresourcedefinitions")
};
/// All mutating webhook configurations: their order counts.
pub static MUTATING_CONFIGURATIONS: Source = Source::of(WEBHOOKS, "v1", "mutatingwebhookconfigurations");
/// Our validating webhook configuration.
pub static VALIDATING_CONFIGURATIONS: Source = Source {
    pick: Pick::Named(&[VALIDATING]),
    ..Source::of(WEBHOOKS, "v1", "validatingwebhookconfigurations")
};
/// Our Service.
pub static SERVICES: Source = ours(Source::of(CORE, "v1", "services"), Pick::Named(&[NAME]));
/// Its endpoints.
pub static ENDPOINT_SLICES: Source = ours(
    Source::of("discovery.k8s.io", "v1", "endpointslices"),
    Pick::Labelled("kubernetes.io/service-name=fabric-admission"),
);
/// Our Deployment.
pub static DEPLOYMENTS: Source = ours(Source::of("apps", "v1", "deployments"), Pick::Named(&[NAME]));
/// The server's pods.
pub static PODS: Source = ours(
    Source::of(CORE, "v1", "pods"),
    Pick::Labelled("app.kubernetes.io/name=fabric-admission,app.kubernetes.io/component=webhook"),
);
/// The Lease that one replica renews.
pub static LEASES: Source =
    ours(Source::of("coordination.k8s.io", "v1", "leases"), Pick::Named(&["fabric-admission-status"]));
/// NetworkPolicies beside the server.
pub static NETWORK_POLICIES: Source =
    ours(Source::of("networking.k8s.io", "v1", "networkpolicies"), Pick::All);
/// Addresses of the API servers: each of them writes its own into the endpoints of this Service (k8s.io/kubernetes
/// pkg/controlplane/reconcilers).
pub static API_SERVERS: Source = Source {
    within: Within::Default,
    pick: Pick::Named(&["kubernetes"]),
    ..Source::of(CORE, "v1", "endpoints")
};
/// Secrets with the server's certificate or CA.
pub static SECRETS: Source = Source {
    form: Form::Results,
    ..ours(Source::of(CORE, "v1", "secrets"), Pick::Named(&["fabric-admission-ca", "fabric-admission-tls"]))
};
/// DaemonSets, Multus among them.
pub static DAEMON_SETS: Source = everywhere(Source::of("apps", "v1", "daemonsets"));
/// LimitRanges.
pub static LIMIT_RANGES: Source = everywhere(Source::of(CORE, "v1", "limitranges"));
/// ResourceQuotas.
pub static RESOURCE_QUOTAS: Source = everywhere(Source::of(CORE, "v1", "resourcequotas"));

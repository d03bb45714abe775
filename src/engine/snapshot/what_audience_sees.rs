//! The facts that an answer may depend on, by who gets it (docs/adr/0021).

use super::audience::{Audience, OpenToNamespace, ProfilesAndNamespacesOpen, View};
use super::{AllFacts, Snapshot, admits};
use crate::facts::{ClusterFacts, FactKind};
use crate::nodes::NodeView;
use crate::profile::Profile;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

static NO_NODES: LazyLock<NodeView> = LazyLock::new(NodeView::default);
static NO_FACTS: LazyLock<ClusterFacts> = LazyLock::new(ClusterFacts::default);

/// Views.
impl Snapshot {
    /// The same facts, as far as they may count for pods and workloads of a namespace.
    #[must_use]
    pub fn seen_from(&self, namespace: &str, audience: Audience) -> Self {
        self.with(View::Of { namespace: namespace.to_owned(), audience, open: OpenToNamespace::default() })
    }

    /// The same facts, as far as they may count for a network object or a profile. `namespace` is the object's, `None` if
    /// it has none: only administrators may write such objects. Anyone may invent one, and ask by it for every fact that
    /// its rules look at. So an object from anyone is judged by itself.
    #[must_use]
    pub fn seen_from_object(&self, namespace: Option<&str>, audience: Audience) -> Self {
        match (audience, namespace) {
            (Audience::Anyone, _) => self.with(View::Nothing),
            (Audience::Tenant, Some(namespace)) => self.seen_from(namespace, audience),
            (Audience::Tenant, None) => self.with(View::Whole),
        }
    }

    fn with(&self, view: View) -> Self {
        Self { known: Arc::clone(&self.known), view, landings: self.landings.clone() }
    }

    /// Whether the answer goes to the owner of the object, who may not read other namespaces, and not to an operator.
    #[must_use]
    pub fn is_not_for_operator(&self) -> bool {
        self.view != View::Whole
    }

    /// Whether the answer goes to anyone who asks.
    #[must_use]
    pub fn is_for_anyone(&self) -> bool {
        matches!(self.view, View::Nothing | View::Of { audience: Audience::Anyone, .. })
    }

    /// Whether facts of a namespace may count: those of the pod's own namespace, of `default`, whose networks every pod may
    /// use (k8snetworkplumbingwg/multus-cni docs/configuration.md, namespaceIsolation), and of a namespace with rails of a
    /// profile that the pod's namespace may use.
    pub(super) fn sees(&self, namespace: &str) -> bool {
        match &self.view {
            View::Whole => true,
            View::Nothing => false,
            View::Of { namespace: own, open, .. } => {
                namespace.is_empty()
                    || own == namespace
                    || namespace == "default"
                    || self.find_what_profiles_open(own, open).namespaces.contains(namespace)
            }
        }
    }

    /// The namespaces whose facts may count; `None` where all do.
    pub(super) fn visible_namespaces(&self) -> Option<BTreeSet<&str>> {
        match &self.view {
            View::Whole => None,
            View::Nothing => Some(BTreeSet::new()),
            View::Of { namespace, open, .. } => {
                let opened =
                    self.find_what_profiles_open(namespace, open).namespaces.iter().map(String::as_str);
                Some(opened.chain(["", "default", namespace]).collect())
            }
        }
    }

    /// Whether the author of the object cannot have written the networks of a namespace. Those of the own namespace may be
    /// the author's, whoever wrote them.
    #[must_use]
    pub fn may_use_interface_facts_of_networks_in(&self, namespace: &str) -> bool {
        match &self.view {
            View::Whole => true,
            View::Nothing => false,
            View::Of { namespace: own, .. } => own != namespace,
        }
    }

    /// Whether one of these profiles, which are those of this snapshot, admits a namespace.
    #[must_use]
    pub(crate) fn admits(&self, profile: &Profile, namespace: &str) -> bool {
        // Most profiles are for all namespaces. Each pod asks for all profiles, some of them several times.
        if profile.namespaces.is_none() {
            return true;
        }
        match &self.view {
            View::Of { namespace: own, open, .. } if own == namespace => {
                self.find_what_profiles_open(own, open).profiles.contains(&profile.name)
            }
            _ => admits(profile, namespace, self.namespace(namespace)),
        }
    }

    /// Whether a profile that a namespace may use has a rail on a network of another.
    #[must_use]
    pub(crate) fn usable_profile_has_rail_in(&self, namespace: &str, own: &str) -> bool {
        self.known.catalog.with_rails_in(namespace).iter().any(|profile| self.admits(profile, own))
    }

    fn find_what_profiles_open<'a>(
        &self,
        own: &str,
        open: &'a OpenToNamespace,
    ) -> &'a ProfilesAndNamespacesOpen {
        open.get(|| {
            let facts = self.namespace(own);
            let mut opened = ProfilesAndNamespacesOpen::default();
            for profile in self.profiles().filter(|profile| admits(profile, own, facts)) {
                let rails = profile.rails.iter().filter_map(|rail| rail.network.namespace.as_deref());
                // Most rails are in `default`, which is open to every pod, and the rest of a profile in one namespace.
                for namespace in rails.filter(|namespace| *namespace != "default") {
                    if !opened.namespaces.contains(namespace) {
                        opened.namespaces.insert(namespace.to_owned());
                    }
                }
                opened.profiles.extend(profile.namespaces.as_ref().map(|_| profile.name.clone()));
            }
            opened
        })
    }

    /// Nodes, as far as the audience may know them. A review that anyone may send could ask for them one by one. Answers about
    /// pods name no nodes and count none for tenants; each such rule asks for the audience.
    #[must_use]
    pub fn nodes_for_audience(&self) -> &NodeView {
        if self.is_for_anyone() { &NO_NODES } else { &self.known.nodes }
    }

    /// All nodes. An answer may depend on them only by the profile that it gives, and by what would keep the pod Pending
    /// with it.
    #[must_use]
    pub fn all_nodes(&self) -> &NodeView {
        &self.known.nodes
    }

    /// Facts about the whole cluster.
    #[must_use]
    pub fn cluster_facts_for_audience(&self) -> &ClusterFacts {
        if self.view == View::Nothing { &NO_FACTS } else { &self.known.objects.facts.index }
    }

    /// Whether the networks of a namespace were listed, so that one that is not known does not exist. A live cluster lists
    /// all of them. So do the files of a cluster, if they have any network that may count. Not so a namespace with more
    /// networks than there is room for.
    #[must_use]
    pub fn knows_all_networks_of(&self, namespace: &str) -> bool {
        let AllFacts { lists_networks, objects, .. } = &*self.known;
        let known = &objects.networks_in;
        self.sees(namespace)
            && !objects.leaves_out(FactKind::NetworkAttachmentDefinition, namespace)
            && (*lists_networks
                || !known.is_empty()
                    && match &self.view {
                        View::Whole => true,
                        View::Of { namespace: own, open, .. } => {
                            [namespace, own, "default"].iter().any(|namespace| known.contains(*namespace))
                                || self
                                    .find_what_profiles_open(own, open)
                                    .namespaces
                                    .iter()
                                    .any(|of_rails| known.contains(of_rails))
                        }
                        View::Nothing => false,
                    })
    }
}

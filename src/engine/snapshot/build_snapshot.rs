//! Folds objects into a [`Snapshot`]: one object at a time, in any order, with the same result.

use super::nearest_layer_wins::{Layer, NodeLayers};
use super::store_of_objects_except_nodes::{Full, Id, MemoryLimitOfObject, Profiles, Store};
use super::{AllFacts, Objects, Settings, Snapshot};
use crate::facts::{self, Fact, FactEntry, FactKind};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::nodes::{NodeBuilder, NodeObject, NodeView};
use crate::profile::{FabricProfile, Profile, ProfileError};
use crate::snapshot::Catalog;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why an object gives no fact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// The object's fields have other types than its kind has.
    #[error("{kind} cannot be read: {pointer}: {message}")]
    Decode {
        /// FactKind.
        kind: String,
        /// What the decoder says.
        message: String,
        /// JSON pointer of the value at fault.
        pointer: String,
    },
    /// A profile with a value that cannot work.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The live objects of one kind and namespace take too much memory.
    #[error("the objects of this kind in namespace {namespace:?} already use {} MiB of memory", super::memory_limit_per_namespace::MAX_BYTES_PER_NAMESPACE_AND_KIND >> 20)]
    Full {
        /// The namespace.
        namespace: String,
    },
}

/// Which object it is, and in which state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.resourceVersion`.
    pub version: Option<String>,
}

/// Collects facts. A copy shares them, and may add others.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    bases: Arc<[FabricProfile]>,
    store: Store,
    nodes: NodeBuilder,
    node_layers: NodeLayers,
    settings: Settings,
    /// Kinds of which a live cluster has listed all objects.
    listed: BTreeSet<FactKind>,
    stale: Vec<&'static str>,
    /// Whether anything is known now that the last view does not have.
    changed: bool,
    /// What was folded for the last view; `None` once an object came or went.
    folded: Option<(Arc<Objects>, Profiles)>,
    /// The catalog of the last view, and the classes of nodes it was made for.
    catalog: Option<(Arc<Catalog>, NodeView)>,
}

impl Builder {
    /// A builder that knows the compiled-in profiles, which other profiles inherit from.
    #[must_use]
    pub fn new(bases: Vec<FabricProfile>) -> Self {
        Self { bases: bases.into(), ..Self::default() }
    }

    /// Whether objects of a kind give facts.
    #[must_use]
    pub fn takes(group: &str, kind: &str) -> bool {
        FactKind::of(group, kind).is_some()
    }

    /// Takes an object in, in place of what it was in this layer. Objects of other kinds, and those without a name,
    /// are ignored.
    ///
    /// # Errors
    /// [`FactError`] when the object cannot be read; what was known stays. [`FactError::Full`] when it is read, but not
    /// kept; then nothing of it is known.
    pub fn add(
        &mut self,
        layer: Layer,
        group: &str,
        kind: &str,
        json: &str,
        default_namespace: &str,
    ) -> Result<(), FactError> {
        self.add_identified(layer, group, kind, json, default_namespace).map(drop)
    }

    /// The same, and which object it was, so that who needs to know does not decode it again. `None` for an object
    /// that was passed over, and for a profile, whose own type has no resource version.
    ///
    /// # Errors
    /// As [`Builder::add`].
    pub fn add_identified(
        &mut self,
        layer: Layer,
        group: &str,
        kind: &str,
        json: &str,
        default_namespace: &str,
    ) -> Result<Option<Identity>, FactError> {
        let Some(known) = FactKind::of(group, kind) else { return Ok(None) };
        let unreadable = |error: DecodeError| FactError::Decode {
            kind: kind.to_owned(),
            message: error.message,
            pointer: error.pointer,
        };
        if known == FactKind::FabricProfile {
            let profile: FabricProfile = decode(json).map_err(unreadable)?;
            self.add_profile(layer, &profile)?;
            return Ok(None);
        }
        if known == FactKind::Node {
            let node: NodeObject<'_> = decode(json).map_err(unreadable)?;
            self.add_node(layer, &node);
            return Ok(node.name().map(|name| Identity {
                namespace: String::new(),
                name: name.to_owned(),
                version: node.version(),
            }));
        }
        let entry = facts::read_fact_of_object(known, json, default_namespace).map_err(unreadable)?;
        let Some(FactEntry { namespace, name, version, fact }) = entry else { return Ok(None) };
        let free = layer != Layer::Live
            || !known.namespaced()
            || self.settings.may_namespace_describe_cluster(&namespace);
        let counted = if free { MemoryLimitOfObject::Free } else { MemoryLimitOfObject::Tenants(json.len()) };
        let id = Id { kind: known, namespace: namespace.as_str().into(), name: name.as_str().into() };
        match self.replace_fact(layer, id, fact, counted) {
            Ok(()) => Ok(Some(Identity { namespace, name, version })),
            Err(Full) => Err(FactError::Full { namespace }),
        }
    }

    fn add_node(&mut self, layer: Layer, node: &NodeObject<'_>) {
        let Some(name) = node.name() else { return };
        if self.node_layers.record_if_nearest(name, layer) {
            self.changed |= self.nodes.add_or_replace_node(node);
        }
    }

    /// Replaces the settings.
    pub fn replace_settings(&mut self, settings: Settings) {
        self.changed = true;
        self.folded = None;
        self.settings = settings;
    }

    /// Takes a profile in.
    ///
    /// # Errors
    /// [`ProfileError`] when a value of it cannot work.
    pub fn add_profile(&mut self, layer: Layer, profile: &FabricProfile) -> Result<(), ProfileError> {
        let resolved = Arc::new(Profile::checked_with_base(profile, &self.bases)?);
        let name = resolved.name.clone();
        let id = Id { kind: FactKind::FabricProfile, namespace: "".into(), name: name.into() };
        self.replace_fact_without_memory_limit(layer, id, Some(Fact::Profile(resolved)));
        Ok(())
    }

    /// Removes a deleted object from its layer; the same object of a farther layer counts again. `namespace` is ignored
    /// for cluster-scoped kinds.
    pub fn remove(&mut self, layer: Layer, group: &str, kind: &str, namespace: &str, name: &str) {
        let Some(kind) = FactKind::of(group, kind) else { return };
        if kind == FactKind::Node {
            if self.node_layers.layer_of(name) == layer {
                self.node_layers.remove(name);
                self.changed |= self.nodes.delete(name);
            }
            return;
        }
        let namespace = if kind.namespaced() { namespace } else { "" };
        self.replace_fact_without_memory_limit(
            layer,
            Id { kind, namespace: namespace.into(), name: name.into() },
            None,
        );
    }

    /// Removes the objects of a kind that a complete list does not have: those for which `kept` is false, by namespace
    /// (empty for cluster-scoped kinds) and name.
    pub fn finish_list_and_remove_unlisted_objects(
        &mut self,
        layer: Layer,
        kind: FactKind,
        kept: impl Fn(&str, &str) -> bool,
    ) {
        if kind == FactKind::Node {
            let gone: Vec<String> = self
                .nodes
                .names()
                .filter(|n| self.node_layers.layer_of(n) == layer && !kept("", n))
                .map(str::to_owned)
                .collect();
            for name in gone {
                self.node_layers.remove(&name);
                self.changed |= self.nodes.delete(&name);
            }
            return;
        }
        for id in self.store.ids_not_kept(layer, kind, kept) {
            self.replace_fact_without_memory_limit(layer, id, None);
        }
        if layer == Layer::Live && self.store.forget_left_out_before_this_list(kind) {
            self.folded = None;
            self.changed = true;
        }
    }

    /// Notes that a live cluster has listed all objects of a kind, so that one that is not known does not exist; or that it
    /// no longer can.
    pub fn set_listed(&mut self, kind: FactKind, listed: bool) {
        let changed = if listed { self.listed.insert(kind) } else { self.listed.remove(&kind) };
        self.changed |= changed;
    }

    /// Sets the kinds of which a live cluster has sent nothing for too long. Returns whether they changed.
    pub fn set_stale(&mut self, kinds: Vec<&'static str>) -> bool {
        let changed = self.stale != kinds;
        self.changed |= changed;
        self.stale = kinds;
        changed
    }

    /// Whether a view made now differs from the last one. Most changes of nodes are heartbeats, and tell nothing.
    #[must_use]
    pub fn has_changed_since_build(&self) -> bool {
        self.changed
    }

    fn replace_fact(
        &mut self,
        layer: Layer,
        id: Id,
        fact: Option<Fact>,
        counted: MemoryLimitOfObject,
    ) -> Result<(), Full> {
        let put = self.store.replace_or_leave_out_fact(layer, id, fact, counted);
        if put != Ok(false) {
            self.folded = None;
            self.changed = true;
        }
        put.map(drop)
    }

    /// The same for what is not limited.
    fn replace_fact_without_memory_limit(&mut self, layer: Layer, id: Id, fact: Option<Fact>) {
        let put = self.replace_fact(layer, id, fact, MemoryLimitOfObject::Free);
        debug_assert_eq!(put, Ok(()), "only what is counted can be too much");
    }

    /// A Snapshot of all objects that were added and not removed. It shares what has not changed with the last one.
    #[must_use]
    pub fn build(&mut self) -> Snapshot {
        self.changed = false;
        let (objects, profiles) = match self.folded.take() {
            Some(folded) => folded,
            None => {
                let folded = self.store.fold_nearest_trusted_facts(&self.settings);
                self.nodes.keep_profile_labels_in_classes(
                    folded.profiles.values().flat_map(|p| p.all_node_requirements().map(|c| c.key)),
                );
                // Most objects are not profiles: the catalog is reused while the profiles are unchanged.
                self.catalog = self.catalog.take().filter(|(known, _)| known.is_of(&folded.profiles));
                (Arc::new(folded.objects), folded.profiles)
            }
        };
        let nodes = self.nodes.rebuild_view_if_changed();
        let catalog = match self.catalog.take() {
            Some((catalog, of)) if of.shares_classes_with(&nodes) => catalog,
            _ => Arc::new(Catalog::new(profiles.clone(), &nodes)),
        };
        self.folded = Some((Arc::clone(&objects), profiles));
        self.catalog = Some((Arc::clone(&catalog), nodes.clone()));
        let known = AllFacts {
            catalog,
            nodes,
            objects,
            lists_networks: self.listed.contains(&FactKind::NetworkAttachmentDefinition),
            lists_nodes: self.listed.contains(&FactKind::Node),
            stale: self.stale.clone(),
            settings: self.settings.clone(),
            bases: Arc::clone(&self.bases),
        };
        Snapshot { known: Arc::new(known), ..Snapshot::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::EnforcementMode;
    use crate::multus::{LinkLayer, ResourceName};
    use proptest::prelude::*;

    const NAD: &str = r#"{"metadata":{"name":"n","namespace":"x","annotations":{"k8s.v1.cni.cncf.io/resourceName":"a.com/r"}}}"#;
    const SRIOV: &str = r#"{"metadata":{"name":"n","namespace":"x"},"spec":{"resourceName":"r"}}"#;
    const SRIOV_GROUP: &str = "sriovnetwork.openshift.io";

    /// The snapshot of objects of the layer of inputs, in their order.
    fn snapshot(objects: &[(&str, &str, &str)]) -> Snapshot {
        let mut builder = Builder::default();
        for (group, kind, json) in objects {
            builder.add(Layer::Input, group, kind, json, "default").unwrap();
        }
        builder.build()
    }

    /// The same in either order.
    fn alike(a: (&str, &str, &str), b: (&str, &str, &str)) -> Snapshot {
        let first = snapshot(&[a, b]);
        assert_eq!(first, snapshot(&[b, a]));
        first
    }

    #[test]
    fn a_definition_beats_its_network_in_either_order() {
        let nad = ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", NAD);
        let snapshot = alike(nad, (SRIOV_GROUP, "SriovNetwork", SRIOV));
        assert_eq!(snapshot.network("x", "n").unwrap().origin, "NetworkAttachmentDefinition");
    }

    #[test]
    fn two_networks_of_one_name_give_one_answer() {
        let other = r#"{"metadata":{"name":"n","namespace":"op"},"spec":{"networkNamespace":"x","resourceName":"s"}}"#;
        let found = alike((SRIOV_GROUP, "SriovNetwork", SRIOV), (SRIOV_GROUP, "SriovNetwork", other));
        assert_eq!(found.network("x", "n").unwrap().resource, Some(ResourceName::Suffix("r".to_owned())));
        let macvlan = r#"{"metadata":{"name":"n"},"spec":{"networkNamespace":"x"}}"#;
        let found = alike((SRIOV_GROUP, "SriovNetwork", SRIOV), ("mellanox.com", "MacvlanNetwork", macvlan));
        assert_eq!(found.network("x", "n").unwrap().origin, "SriovNetwork");
    }

    #[test]
    fn the_nearer_layer_wins() {
        let namespace = |mode: &str| {
            format!(r#"{{"metadata":{{"name":"t","labels":{{"fabric-admission.dev/mode":"{mode}"}}}}}}"#)
        };
        let mut builder = Builder::default();
        builder.add(Layer::Input, "", "Namespace", &namespace("audit"), "default").unwrap();
        builder.add(Layer::Live, "", "Namespace", &namespace("enforce"), "default").unwrap();
        assert_eq!(builder.build().namespace("t").unwrap().mode(), Some(EnforcementMode::Audit));
        builder.remove(Layer::Input, "", "Namespace", "", "t");
        assert_eq!(builder.build().namespace("t").unwrap().mode(), Some(EnforcementMode::Enforce));
    }

    #[test]
    fn an_equal_object_changes_nothing() {
        let node = |beat: u8, pool: &str| {
            format!(
                r#"{{"metadata":{{"name":"a","resourceVersion":"{beat}","labels":{{"pool":"{pool}"}}}},
                "status":{{"conditions":[{{"type":"Ready","lastHeartbeatTime":"{beat}"}}]}}}}"#
            )
        };
        let mut builder = Builder::default();
        let put = |builder: &mut Builder, kind: &str, json: &str| {
            builder
                .add(Layer::Live, if kind == "Node" { "" } else { "k8s.cni.cncf.io" }, kind, json, "default")
                .unwrap();
            let changed = builder.has_changed_since_build();
            drop(builder.build());
            changed
        };
        assert!(put(&mut builder, "Node", &node(1, "x")));
        assert!(!put(&mut builder, "Node", &node(2, "x")), "a heartbeat");
        assert!(put(&mut builder, "Node", &node(3, "y")));
        assert!(put(&mut builder, "NetworkAttachmentDefinition", NAD));
        assert!(!put(&mut builder, "NetworkAttachmentDefinition", NAD));
        builder.set_listed(FactKind::NetworkAttachmentDefinition, true);
        assert!(builder.has_changed_since_build());
        drop(builder.build());
        builder.finish_list_and_remove_unlisted_objects(Layer::Live, FactKind::Node, |_, name| name == "a");
        assert!(!builder.has_changed_since_build());
        builder.remove(Layer::Live, "", "Node", "", "a");
        assert!(builder.has_changed_since_build());
    }

    #[test]
    fn a_network_that_moves_leaves_nothing_behind() {
        let to = |namespace: &str| {
            format!(
                r#"{{"metadata":{{"name":"n","namespace":"op"}},"spec":{{"networkNamespace":"{namespace}"}}}}"#
            )
        };
        let mut builder = Builder::default();
        builder.add(Layer::Cluster, SRIOV_GROUP, "SriovNetwork", &to("old"), "default").unwrap();
        builder.add(Layer::Input, SRIOV_GROUP, "SriovNetwork", &to("new"), "default").unwrap();
        let snapshot = builder.build();
        assert!(snapshot.network("old", "n").is_none() && snapshot.network("new", "n").is_some());
    }

    #[test]
    fn a_wrong_type_is_named_by_pointer() {
        let error = Builder::default()
            .add(Layer::Input, "", "Namespace", r#"{"metadata":{"name":1}}"#, "default")
            .unwrap_err();
        assert!(matches!(error, FactError::Decode { pointer, .. } if pointer == "/metadata/name"));
    }

    #[test]
    fn facts_of_several_objects_settle_a_network() {
        let network = r#"{"metadata":{"name":"n"},"spec":{"networkNamespace":"x","resourceName":"h"}}"#;
        let pools = r#"{"metadata":{"name":"nic-cluster-policy"},"spec":{"sriovDevicePlugin":{"config":
            "{\"resourceList\":[{\"resourceName\":\"h\",\"selectors\":{\"linkTypes\":[\"infiniband\"],\"isRdma\":true}}]}"}}}"#;
        let found = alike(
            ("mellanox.com", "HostDeviceNetwork", network),
            ("mellanox.com", "NicClusterPolicy", pools),
        );
        let class = found.network_class_by_all_facts(found.network("x", "n").unwrap());
        assert_eq!((class.link, class.rdma), (Some(LinkLayer::InfiniBand), Some(true)));
    }

    /// Kinds of which several can make one network, and one of each other sort.
    const KINDS: [(&str, &str); 10] = [
        ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
        (SRIOV_GROUP, "SriovNetwork"),
        (SRIOV_GROUP, "SriovIBNetwork"),
        ("mellanox.com", "MacvlanNetwork"),
        (SRIOV_GROUP, "SriovNetworkNodePolicy"),
        (SRIOV_GROUP, "SriovNetworkNodeState"),
        ("", "Namespace"),
        ("resource.k8s.io", "DeviceClass"),
        ("resource.k8s.io", "ResourceClaimTemplate"),
        ("resource.k8s.io", "ResourceSlice"),
    ];

    /// An event: what happens to which object in which layer. Few names, so that they meet.
    type Event = (bool, u8, usize, u8, u8, u8);

    fn text(kind: &str, namespace: &str, name: &str, value: u8) -> String {
        let link = ["eth", "ib", ""][usize::from(value) % 3];
        let spec = match kind {
            "SriovNetworkNodeState" => format!(
                r#"{{"interfaces":[{{"name":"e{}","linkType":"{link}","vfGroups":[{{"resourceName":"r1","isRdma":{}}}]}}]}}"#,
                value % 2,
                value > 3
            ),
            "ResourceSlice" => format!(
                r#"{{"driver":"d","pool":{{"name":"p","generation":{}}},"nodeName":"n{value}","devices":[{{}}]}}"#,
                value % 2
            ),
            "DeviceClass" => format!(r#"{{"extendedResourceName":"x.com/r{value}"}}"#),
            "ResourceClaimTemplate" => format!(
                r#"{{"spec":{{"devices":{{"requests":[{{"exactly":{{"deviceClassName":"c","count":{value}}}}}]}}}}}}"#
            ),
            _ => format!(
                r#"{{"networkNamespace":"{}","resourceName":"r{value}","linkType":"{link}","numVfs":{value}}}"#,
                ["a", "b", ""][usize::from(value) % 3]
            ),
        };
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}},"spec":{spec}}}"#)
    }

    fn apply(builder: &mut Builder, (add, layer, kind, namespace, name, value): Event) {
        let layer = [Layer::Live, Layer::Cluster, Layer::Input][usize::from(layer)];
        let (group, kind) = KINDS[kind];
        let (namespace, name) = (["a", "b"][usize::from(namespace)], ["n", "m"][usize::from(name)]);
        if add {
            builder.add(layer, group, kind, &text(kind, namespace, name, value), "default").unwrap();
        } else {
            builder.remove(layer, group, kind, namespace, name);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn what_is_there_in_the_end_is_all_that_counts(
            events in prop::collection::vec((any::<bool>(), 0..3_u8, 0..KINDS.len(), 0..2_u8, 0..2_u8, 0..6_u8), 0..40),
            turned in any::<bool>(),
        ) {
            let mut lived = Builder::default();
            let mut last = std::collections::BTreeMap::new();
            for event in events {
                apply(&mut lived, event);
                let (_, layer, kind, namespace, name, _) = event;
                let namespaced = FactKind::of(KINDS[kind].0, KINDS[kind].1).unwrap().namespaced();
                last.insert((layer, kind, if namespaced { namespace } else { 0 }, name), event);
            }
            let mut left: Vec<Event> = last.into_values().filter(|e| e.0).collect();
            if turned {
                left.reverse();
            }
            let mut fresh = Builder::default();
            for event in left {
                apply(&mut fresh, event);
            }
            prop_assert_eq!(lived.build(), fresh.build());
        }
    }
}

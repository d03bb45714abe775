//! Folds objects into a [`Snapshot`]: one object at a time, in any order, with the same result.

use super::{NAME_LABEL, NamespaceFacts, PROFILE_ANNOTATION, Snapshot};
use crate::fabric::catalog::asked_labels;
use crate::fabric::nodes::{NodeIndex, NodeObject};
use crate::fabric::{Catalog, FabricProfile, Profile, ProfileError};
use crate::multus::network::{self, NetworkFact, NetworkObject};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Where a fact comes from; the larger one wins over the same object of a smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A live cluster.
    Live,
    /// Files that describe a cluster.
    Cluster,
    /// The objects under review.
    Input,
}

/// Why an object gives no fact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// The object's fields have other types than its kind has.
    #[error("{kind} cannot be read: {pointer}: {message}")]
    Decode {
        /// Kind.
        kind: String,
        /// What the decoder says.
        message: String,
        /// JSON pointer of the value at fault.
        pointer: String,
    },
    /// A profile with a value that cannot work.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

/// Collects facts.
#[derive(Debug, Default)]
pub struct Builder {
    bases: Vec<FabricProfile>,
    profiles: BTreeMap<String, (Layer, Arc<Profile>)>,
    namespaces: HashMap<String, (Layer, NamespaceFacts)>,
    networks: HashMap<(String, String), (Layer, bool, NetworkFact)>,
    nodes: NodeIndex,
    /// Layers of nodes that do not come from a live cluster.
    node_layers: HashMap<String, Layer>,
    settings: super::Settings,
    lists_networks: bool,
}

#[derive(Deserialize)]
struct NamespaceObject {
    #[serde(default)]
    metadata: NamespaceMeta,
}

#[derive(Default, Deserialize)]
struct NamespaceMeta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    labels: Option<BTreeMap<String, Option<String>>>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, Option<String>>>,
}

impl Builder {
    /// A builder that knows the compiled-in profiles, which other profiles inherit from.
    #[must_use]
    pub fn new(bases: Vec<FabricProfile>) -> Self {
        Self { bases, ..Self::default() }
    }

    /// Whether objects of a kind give facts.
    #[must_use]
    pub fn takes(group: &str, kind: &str) -> bool {
        matches!(
            (group, kind),
            ("", "Namespace" | "Node")
                | ("fabric-admission.dev", "FabricProfile")
                | ("k8s.cni.cncf.io", "NetworkAttachmentDefinition")
                | ("sriovnetwork.openshift.io", "SriovNetwork" | "SriovIBNetwork" | "OVSNetwork")
                | ("mellanox.com", "MacvlanNetwork" | "IPoIBNetwork" | "HostDeviceNetwork")
        )
    }

    /// Takes an object in. Objects of other kinds are passed over.
    ///
    /// # Errors
    /// [`FactError`] when the object cannot be read; what was known stays.
    pub fn add(
        &mut self,
        layer: Layer,
        group: &str,
        kind: &str,
        json: &str,
        default_namespace: &str,
    ) -> Result<(), FactError> {
        match (group, kind) {
            ("", "Namespace") => {
                let object: NamespaceObject = decode(kind, json)?;
                let strings = |map: Option<BTreeMap<String, Option<String>>>| {
                    map.unwrap_or_default()
                        .into_iter()
                        .map(|(k, v)| (k, v.unwrap_or_default()))
                        .collect::<BTreeMap<_, _>>()
                };
                let mut annotations = strings(object.metadata.annotations);
                let facts = NamespaceFacts {
                    labels: strings(object.metadata.labels),
                    profile: annotations.remove(PROFILE_ANNOTATION),
                };
                if let Some(name) = object.metadata.name {
                    // The API server sets this label on every namespace; files often leave it out.
                    let mut facts = facts;
                    facts.labels.insert(NAME_LABEL.to_owned(), name.clone());
                    let slot = self.namespaces.entry(name).or_insert((layer, NamespaceFacts::default()));
                    if layer >= slot.0 {
                        *slot = (layer, facts);
                    }
                }
            }
            ("", "Node") => {
                let node: NodeObject<'_> = decode(kind, json)?;
                let known = node.name().and_then(|n| self.node_layers.get(n)).copied().unwrap_or(Layer::Live);
                if layer >= known {
                    if let Some(name) = node.name().filter(|_| layer > Layer::Live) {
                        self.node_layers.insert(name.to_owned(), layer);
                    }
                    self.nodes.add(&node);
                }
            }
            ("fabric-admission.dev", "FabricProfile") => {
                let profile: FabricProfile = decode(kind, json)?;
                self.add_profile(layer, &profile)?;
            }
            _ if Self::takes(group, kind) => {
                let object: NetworkObject = decode(kind, json)?;
                if let Some((namespace, name, fact)) =
                    network::render(group, kind, &object, default_namespace)
                {
                    // The definition itself says more than the CR it is rendered from: it has the prefix.
                    // Who gives networks as facts of a cluster gives all of them: `kubectl get net-attach-def -A`.
                    self.lists_networks |= layer == Layer::Cluster;
                    let direct = kind == "NetworkAttachmentDefinition";
                    let slot =
                        self.networks.entry((namespace, name)).or_insert((layer, direct, fact.clone()));
                    if (layer, direct) >= (slot.0, slot.1) {
                        *slot = (layer, direct, fact);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes a profile in.
    ///
    /// # Errors
    /// [`ProfileError`] when a value of it cannot work.
    pub fn add_profile(&mut self, layer: Layer, profile: &FabricProfile) -> Result<(), ProfileError> {
        let resolved = Arc::new(Profile::resolve(profile, &self.bases)?);
        let slot = self.profiles.entry(resolved.name.clone()).or_insert((layer, Arc::clone(&resolved)));
        if layer >= slot.0 {
            *slot = (layer, resolved);
        }
        Ok(())
    }

    /// Sets how the cluster wants it.
    pub fn settings(&mut self, settings: super::Settings) {
        self.settings = settings;
    }

    /// The view of everything taken in.
    #[must_use]
    pub fn build(mut self) -> Snapshot {
        let profiles: BTreeMap<_, _> = self.profiles.into_iter().map(|(k, (_, v))| (k, v)).collect();
        self.nodes.ask(profiles.values().flat_map(|p| asked_labels(p)));
        let nodes = self.nodes.view();
        Snapshot {
            catalog: Catalog::new(profiles, &nodes),
            nodes,
            namespaces: self.namespaces.into_iter().map(|(k, (_, v))| (k, v)).collect(),
            networks: self.networks.into_iter().map(|(k, (_, _, v))| (k, v)).collect(),
            lists_networks: self.lists_networks,
            settings: self.settings,
        }
    }
}

fn decode<'de, T: Deserialize<'de>>(kind: &str, json: &'de str) -> Result<T, FactError> {
    crate::review::decode::object(json).map_err(|error| FactError::Decode {
        kind: kind.to_owned(),
        message: error.message,
        pointer: error.pointer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAD: &str = r#"{"metadata":{"name":"n","namespace":"x","annotations":{"k8s.v1.cni.cncf.io/resourceName":"a.com/r"}}}"#;
    const SRIOV: &str = r#"{"metadata":{"name":"n","namespace":"x"},"spec":{"resourceName":"r"}}"#;

    #[test]
    fn a_definition_beats_its_network_in_either_order() {
        let kinds = [
            ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", NAD),
            ("sriovnetwork.openshift.io", "SriovNetwork", SRIOV),
        ];
        for order in [[0, 1], [1, 0]] {
            let mut builder = Builder::default();
            for i in order {
                let (group, kind, json) = kinds[i];
                builder.add(Layer::Input, group, kind, json, "default").unwrap();
            }
            let snapshot = builder.build();
            assert_eq!(snapshot.network("x", "n").unwrap().origin, "NetworkAttachmentDefinition");
        }
    }

    #[test]
    fn the_nearer_layer_wins() {
        let namespace = |mode: &str| {
            format!(r#"{{"metadata":{{"name":"t","labels":{{"fabric-admission.dev/mode":"{mode}"}}}}}}"#)
        };
        let mut builder = Builder::default();
        builder.add(Layer::Input, "", "Namespace", &namespace("audit"), "default").unwrap();
        builder.add(Layer::Live, "", "Namespace", &namespace("enforce"), "default").unwrap();
        assert_eq!(builder.build().namespace("t").unwrap().mode(), Some(super::super::Mode::Audit));
    }

    #[test]
    fn a_wrong_type_is_named_by_pointer() {
        let error = Builder::default()
            .add(Layer::Input, "", "Namespace", r#"{"metadata":{"name":1}}"#, "default")
            .unwrap_err();
        assert!(matches!(error, FactError::Decode { pointer, .. } if pointer == "/metadata/name"));
    }
}

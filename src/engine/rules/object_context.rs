//! An object that is not a pod, as its rules see it.

use super::cni_config_of_network_definition::NetworkDefinition;
use super::device_plugin_config_fault_type::DevicePluginConfiguration;
use super::json_in_text_fields::{self, EmbeddedFault, EmbeddedObject};
use super::other_sriov_policy_and_common_nodes::OtherPolicy;
use crate::decision_limits::{self, DecisionLimits};
use crate::facts::network_of_one_object::{NetworkFromObject, network_of_object};
use crate::facts::sriov_node_state::PhysicalFunction;
use crate::facts::{FactKind, NodesWithSameNics, SriovNodePolicy};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::nodes::{InCommon, LabelRequirement, NodeSelection};
use crate::profile::FabricProfile;
use crate::snapshot::Snapshot;
use crate::text::{parse_document_within_limit, refuse_long_cni_document};
use serde_json::{Map, Value};
use std::cell::OnceCell;

/// The context of a rule on other objects.
#[derive(Debug)]
pub struct ObjectContext<'a> {
    /// API group.
    pub group: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// JSON text of the object.
    pub json: &'a str,
    /// The event.
    pub event: ObjectEvent<'a>,
    /// Everything else that is known.
    pub snapshot: &'a Snapshot,
    /// Whether the API server has compared it with the schema of its kind, as it does before it calls a validating
    /// webhook (k8s.io/apiserver pkg/registry/generic/registry/store.go, Create).
    pub validated: bool,
    /// The time limit, asked between rules.
    pub deadline: &'a DecisionLimits<'a>,
    /// Values that several rules read, each read once.
    views: ValuesReadOnce<'a>,
}

/// What is in a text, or why it cannot be read.
type Embedded<T> = Result<T, EmbeddedFault>;

/// An object as rules read it, filled at the first question.
#[derive(Debug, Default)]
struct ValuesReadOnce<'a> {
    value: OnceCell<Option<Value>>,
    policy: OnceCell<Option<SriovNodePolicy>>,
    definition: OnceCell<Option<NetworkDefinition>>,
    network: OnceCell<Option<NetworkFromObject>>,
    ipam: OnceCell<Embedded<Map<String, Value>>>,
    meta_plugins: OnceCell<Embedded<Vec<EmbeddedObject>>>,
    configurations: OnceCell<Vec<DevicePluginConfiguration>>,
    selected_node: OnceCell<InCommon<'a>>,
    nics: OnceCell<Vec<(&'a str, &'a NodesWithSameNics)>>,
    taken: OnceCell<Vec<(&'a str, &'a PhysicalFunction)>>,
    others: OnceCell<Vec<OtherPolicy<'a>>>,
    profile: OnceCell<Result<FabricProfile, DecodeError>>,
}

/// NICs that are compared with a policy in the time in which a value of a profile is planned (count).
const NICS_PER_BUDGET_VALUE: usize = 3;

/// Longest profile that is read (bytes): its files have at most 192 KiB, and etcd stores no object of more than 1.5 MiB.
const MAX_PROFILE: usize = 2 << 20;

/// A profile that is not too long to be read.
pub(super) fn read_profile_within_limit(json: &str) -> Result<FabricProfile, DecodeError> {
    match json.len() {
        ..=MAX_PROFILE => decode(json),
        length => {
            let message = format!("the object has {length} bytes, and at most {MAX_PROFILE} are read");
            Err(DecodeError { pointer: String::new(), message })
        }
    }
}

impl<'a> ObjectContext<'a> {
    /// An object that is given as JSON text.
    #[must_use]
    pub fn new(
        (group, kind): (&'a str, &'a str),
        json: &'a str,
        event: ObjectEvent<'a>,
        snapshot: &'a Snapshot,
    ) -> Self {
        let deadline = &decision_limits::NEVER;
        Self {
            group,
            kind,
            json,
            event,
            snapshot,
            validated: false,
            deadline,
            views: ValuesReadOnce::default(),
        }
    }

    /// The same object, from the API server's request.
    #[must_use]
    pub fn already_checked_by_api_server(self) -> Self {
        Self { validated: true, ..self }
    }

    /// The same object under a time limit.
    #[must_use]
    pub fn with_deadline(self, deadline: &'a DecisionLimits<'a>) -> Self {
        Self { deadline, ..self }
    }

    /// The network that the object is, or that its operator makes of it.
    pub(super) fn network_made_of_object(&self) -> Option<&NetworkFromObject> {
        let read = || {
            let kind = FactKind::of(self.group, self.kind)?.itself_if_it_makes_networks()?;
            network_of_object(kind, &decode(self.json).ok()?, "default")
        };
        self.views.network.get_or_init(read).as_ref()
    }

    /// The profile that the object is.
    pub(super) fn profile(&self) -> &Result<FabricProfile, DecodeError> {
        self.views.profile.get_or_init(|| read_profile_within_limit(self.json))
    }

    /// `spec.ipam`, the text of a JSON object in the kinds of which an operator makes networks, and the object. Not a text that
    /// is too long to be read: the operator has no such limit.
    pub(super) fn ipam_text(&self) -> Option<(&str, &Embedded<Map<String, Value>>)> {
        let text =
            self.non_empty_text_at("/spec/ipam").filter(|text| refuse_long_cni_document(text).is_ok())?;
        Some((text, self.views.ipam.get_or_init(|| json_in_text_fields::read_cni_object(text))))
    }

    /// `spec.metaPlugins`, the text of JSON objects in the same kinds, and the objects. Not a text that is too long to be read.
    pub(super) fn meta_plugins(&self) -> Option<(&str, &Embedded<Vec<EmbeddedObject>>)> {
        let text = self
            .non_empty_text_at("/spec/metaPlugins")
            .filter(|text| refuse_long_cni_document(text).is_ok())?;
        Some((
            text,
            self.views.meta_plugins.get_or_init(|| json_in_text_fields::read_objects_with_commas(text)),
        ))
    }

    /// Device plugin configurations in the object. Several rules ask for them.
    pub(super) fn device_plugin_configurations(
        &self,
        read: impl FnOnce() -> Vec<DevicePluginConfiguration>,
    ) -> &[DevicePluginConfiguration] {
        self.views.configurations.get_or_init(read)
    }

    /// The whole object; `None` where it is not JSON that fits a tree.
    pub(super) fn whole_object(&self) -> Option<&Value> {
        self.views.value.get_or_init(|| parse_document_within_limit(self.json).ok()).as_ref()
    }

    /// A text of the object by its pointer; `None` where it is missing, empty or of another type.
    pub(super) fn non_empty_text_at(&self, pointer: &str) -> Option<&str> {
        self.whole_object()?.pointer(pointer)?.as_str().filter(|text| !text.is_empty())
    }

    /// A whole number of the object by its pointer; `None` where it is missing or of another type.
    pub(super) fn whole_number_at(&self, pointer: &str) -> Option<i64> {
        self.whole_object()?.pointer(pointer)?.as_i64()
    }

    /// The CNI configuration of the NetworkAttachmentDefinition that it is; `None` where Multus cannot use it.
    pub(super) fn cni_configuration(&self) -> Option<&NetworkDefinition> {
        self.views.definition.get_or_init(|| NetworkDefinition::read(self.whole_object()?)).as_ref()
    }

    /// The nodes that the policy selects.
    pub(super) fn selected_nodes(&self) -> Option<NodeSelection<'a, '_>> {
        let wanted: Vec<LabelRequirement<'_>> = self
            .sriov_policy_unless_default()?
            .nodes
            .iter()
            .map(|(key, value)| LabelRequirement::key_equals_value(key, value))
            .collect();
        Some(NodeSelection::new(self.snapshot.nodes_for_audience(), &wanted))
    }

    /// The first node that the policy selects.
    pub(super) fn first_selected_node(&self) -> InCommon<'a> {
        let read = || self.selected_nodes().map_or(InCommon::None, |nodes| nodes.first(self.deadline));
        *self.views.selected_node.get_or_init(read)
    }

    /// NICs of the nodes that the policy selects, each set of them with the first such node; none where the decision may not
    /// look at so many nodes. Rules ask for it several times, and there may be 130,000 nodes.
    pub(super) fn nics_of_selected_nodes(&self) -> &[(&'a str, &'a NodesWithSameNics)] {
        let read = || {
            let Some(selection) = self.selected_nodes() else { return Vec::new() };
            if !matches!(self.first_selected_node(), InCommon::Node(_)) {
                return Vec::new();
            }
            // Sets of NICs are up to as many as nodes.
            let sets = self.snapshot.cluster_facts_for_audience().nodes_grouped_by_nics();
            let nics: usize = sets.iter().map(|set| set.interfaces().len()).sum();
            if !self.deadline.take_values_or_cut_short(nics / NICS_PER_BUDGET_VALUE) {
                return Vec::new();
            }
            let mut selected = Vec::new();
            for set in sets.iter().take_while(|_| !self.deadline.is_over()) {
                match selection.first_of(set.nodes(), self.deadline) {
                    InCommon::Node(node) => selected.push((node, set)),
                    InCommon::None => {}
                    InCommon::Unknown => return Vec::new(),
                }
            }
            selected
        };
        self.views.nics.get_or_init(read)
    }

    /// Of these the NICs that the policy takes, each with the first node that has it.
    pub(super) fn nics_that_policy_takes(&self) -> &[(&'a str, &'a PhysicalFunction)] {
        let read = || {
            let Some(policy) = self.sriov_policy_unless_default() else { return Vec::new() };
            let index = policy.nics.for_many_nics();
            let of_node = |(node, set): &(&'a str, &'a NodesWithSameNics)| {
                let (node, set) = (*node, *set);
                set.interfaces()
                    .iter()
                    .filter(|nic| index.selects_nic(nic))
                    .map(move |nic| (node, nic))
                    .collect::<Vec<_>>()
            };
            let in_time = self.nics_of_selected_nodes().iter().take_while(|_| !self.deadline.is_over());
            in_time.flat_map(of_node).collect()
        };
        self.views.taken.get_or_init(read)
    }

    /// The other policies, compared with the one that the object is. Several rules ask for them.
    pub(super) fn other_policies(&self, read: impl FnOnce() -> Vec<OtherPolicy<'a>>) -> &[OtherPolicy<'a>] {
        self.views.others.get_or_init(read)
    }

    /// The object as the SriovNetworkNodePolicy it is. The operator passes over the one of name `default`.
    pub(super) fn sriov_policy_unless_default(&self) -> Option<&SriovNodePolicy> {
        let read = || {
            SriovNodePolicy::parse(self.json)
                .ok()
                .filter(|_| self.non_empty_text_at("/metadata/name") != Some("default"))
        };
        self.views.policy.get_or_init(read).as_ref()
    }
}

/// An event of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectEvent<'a> {
    /// It is created, or reviewed as it stands.
    Given,
    /// It replaces its former self.
    Updated {
        /// JSON text of the former object.
        old: &'a str,
    },
    /// It is deleted.
    Deleted,
}

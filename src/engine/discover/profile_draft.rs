//! A fabric as a FabricProfile.

use super::commented_yaml::{Item, Tree, YamlEntry, entry_with_source_comment};
use super::counts_over_nodes::Count;
use super::fields_with_origin::{Fabric, Resource};
use super::label_with_values::Label;
use super::node_as_shown::{INSTANCE_TYPE, Node};
use crate::profile::schema::{API_VERSION, Attachment, Inject, KIND, Per, Transport};
use crate::profile::{FabricProfile, Memlock};
use crate::text::count_with_noun;
use serde::Serialize;
use std::collections::BTreeSet;

/// A profile with the origin of each value.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Name.
    pub name: String,
    /// Names of the nodes of the fabric.
    pub nodes: Vec<String>,
    /// What only a person can answer; the profile works without the answers.
    pub questions: Vec<String>,
    pub(super) tree: Tree,
}

/// The parts of a profile that do not depend on the kind of fabric.
pub(super) struct Frame<'a> {
    pub(super) name: String,
    pub(super) nodes: &'a [&'a Node],
    pub(super) selector: &'a [Label],
    pub(super) accelerators: (&'a str, &'a Count),
}

/// The word of an enum in a profile.
pub(super) fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

impl Draft {
    pub(super) fn new(frame: Frame<'_>, fabric: &Fabric, bases: &[FabricProfile]) -> Self {
        let base = fabric.base.and_then(|name| bases.iter().find(|base| base.metadata.name == name));
        let mut spec = Vec::new();
        let (transport, attachment) = (&fabric.transport, &fabric.attachment);
        if let Some(base) = fabric.base {
            let from = if transport.from == attachment.from {
                transport.from.clone()
            } else {
                format!("{}; {}", transport.from, attachment.from)
            };
            spec.push(entry_with_source_comment("base", Tree::text(base), from));
        }
        let inherits = |same: bool| base.is_some() && same;
        spec.push(entry_with_source_comment("description", Tree::text(description(&frame, fabric)), ""));
        spec.extend(nodes(&frame));
        spec.extend(instance_types(&frame, base));
        if !inherits(base.is_some_and(|base| base.spec.transport == Some(transport.value))) {
            spec.push(entry_with_source_comment(
                "transport",
                Tree::text(word(&transport.value)),
                &transport.from,
            ));
        }
        if !inherits(base.is_some_and(|base| base.spec.attachment == Some(attachment.value))) {
            spec.push(entry_with_source_comment(
                "attachment",
                Tree::text(word(&attachment.value)),
                &attachment.from,
            ));
        }
        if let Some(inject) = &fabric.inject {
            let default = base.and_then(|base| base.spec.inject).unwrap_or(Inject::Full);
            if default != inject.value {
                spec.push(entry_with_source_comment("inject", Tree::text(word(&inject.value)), &inject.from));
            }
        }
        let (name, count) = frame.accelerators;
        let from = format!("capacity of {}: {name}", count.nodes());
        spec.push(entry_with_source_comment("acceleratorsPerNode", Tree::Number(count.units), from));
        spec.extend(rails(fabric));
        spec.extend(resources(fabric));
        spec.extend(gke(fabric, base));
        let verbs = transport.value.is_verbs();
        let mut questions: Vec<String> = fabric.questions.iter().map(|question| question.0.clone()).collect();
        if base.is_none() && verbs {
            questions.push(
                "Is eth0 the interface of the cluster network in the pods? Most CNI plugins use this name, but no object shows \
                 it. If it is, set bootstrap: eth0; if not, set NCCL_SOCKET_IFNAME in env. Without either, NCCL chooses the \
                 interface itself, and may choose a rail."
                    .to_owned(),
            );
        }
        let full = fabric.inject.as_ref().is_none_or(|inject| inject.value == Inject::Full);
        // A base for one provider may know the limit.
        let unlimited = base.is_some_and(|base| base.spec.memlock == Some(Memlock::Runtime));
        if verbs && full && !unlimited {
            questions.push(
                "Does the container runtime of these nodes limit locked memory? By default, containers get the capability \
                 IPC_LOCK. If the limit is unlimited, set memlock: runtime."
                    .to_owned(),
            );
        }
        // No object shows which jobs need the fabric, and fewer than one accelerator is none.
        if count.units > 1 {
            questions.push(format!(
                "Should pods with fewer than {} accelerators also get this profile? By default, they do not get it. If they \
                 should, set when.minAccelerators.",
                count.units
            ));
        }
        questions.push(
            "Which namespaces may use this profile? Without spec.namespaces, every namespace that opted in may use it."
                .to_owned(),
        );
        let metadata = Tree::Map(vec![entry_with_source_comment("name", Tree::text(&frame.name), "")]);
        let tree = Tree::Map(vec![
            entry_with_source_comment("apiVersion", Tree::text(API_VERSION), ""),
            entry_with_source_comment("kind", Tree::text(KIND), ""),
            entry_with_source_comment("metadata", metadata, ""),
            entry_with_source_comment("spec", Tree::Map(spec), ""),
        ]);
        let nodes = frame.nodes.iter().map(|node| node.name.clone()).collect();
        Self { name: frame.name, nodes, questions, tree }
    }

    /// The profile as its own reader takes it.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        self.tree.json()
    }

    /// The instance types of the profile.
    pub(super) fn instance_types(&self) -> Vec<String> {
        let json = self.json();
        let list = json.pointer("/spec/instanceTypes").and_then(serde_json::Value::as_array);
        list.into_iter().flatten().filter_map(|of| of.as_str().map(str::to_owned)).collect()
    }

    /// The origin of each value, by its JSON pointer.
    #[must_use]
    pub fn origins(&self) -> Vec<(String, String)> {
        let mut origins = Vec::new();
        self.tree.collect_origins("", &mut origins);
        origins
    }

    /// YAML with the origins and the questions as comments.
    #[must_use]
    pub fn yaml(&self) -> String {
        self.tree.yaml()
    }
}

fn description(frame: &Frame<'_>, fabric: &Fabric) -> String {
    let rails: u64 = fabric.rails.iter().map(|rail| rail.count.as_ref().map_or(1, |count| count.value)).sum();
    let networks = fabric.gke.len().saturating_sub(1);
    let transport = match fabric.transport.value {
        Transport::Roce => "RoCE",
        Transport::Infiniband => "InfiniBand",
        Transport::Ethernet => "TCP",
        Transport::Efa => "EFA",
        Transport::Tcpx => "GPUDirect-TCPX",
        Transport::Tcpxo => "GPUDirect-TCPXO",
    };
    let by = match fabric.attachment.value {
        Attachment::None => String::new(),
        other => format!(" over {}", word(&other)),
    };
    let rails = match rails + u64::try_from(networks).unwrap_or(0) {
        0 => String::new(),
        1 => ", 1 rail".to_owned(),
        n => format!(", {n} rails"),
    };
    let accelerators =
        count_with_noun(usize::try_from(frame.accelerators.1.units).unwrap_or(usize::MAX), "accelerator");
    format!("{accelerators} per node, {transport}{by}{rails}")
}

fn texts(values: &BTreeSet<String>) -> Tree {
    Tree::List(values.iter().map(|value| Item { value: Tree::text(value), from: String::new() }).collect())
}

/// The node selector, unless the instance types say the same.
fn nodes(frame: &Frame<'_>) -> Option<YamlEntry> {
    let labels: Vec<&Label> = frame.selector.iter().filter(|label| label.key != INSTANCE_TYPE).collect();
    if labels.is_empty() {
        return None;
    }
    let from = match labels.len() {
        1 => format!("label of {}, and of no other node with accelerators", nodes_of(frame.nodes)),
        _ => format!(
            "label of {}; together, the labels match no other node with accelerators",
            nodes_of(frame.nodes)
        ),
    };
    let (one, many): (Vec<&Label>, Vec<&Label>) =
        labels.into_iter().partition(|label| label.values.len() == 1);
    let mut selector = Vec::new();
    let exact: Vec<YamlEntry> = one
        .iter()
        .flat_map(|label| {
            label.values.iter().map(|value| entry_with_source_comment(&label.key, Tree::text(value), &from))
        })
        .collect();
    if !exact.is_empty() {
        selector.push(entry_with_source_comment("matchLabels", Tree::Map(exact), ""));
    }
    let expressions = many.iter().map(|label| {
        let entries = if label.values.is_empty() {
            let from =
                format!("label of the other nodes with accelerators, and not of {}", nodes_of(frame.nodes));
            vec![
                entry_with_source_comment("key", Tree::text(&label.key), from),
                entry_with_source_comment("operator", Tree::text("DoesNotExist"), ""),
            ]
        } else {
            vec![
                entry_with_source_comment("key", Tree::text(&label.key), &from),
                entry_with_source_comment("operator", Tree::text("In"), ""),
                entry_with_source_comment("values", texts(&label.values), ""),
            ]
        };
        Item { value: Tree::Map(entries), from: String::new() }
    });
    let expressions: Vec<Item> = expressions.collect();
    if !expressions.is_empty() {
        selector.push(entry_with_source_comment("matchExpressions", Tree::List(expressions), ""));
    }
    Some(entry_with_source_comment("nodeSelector", Tree::Map(selector), ""))
}

/// The names of some nodes.
pub(super) fn nodes_of(nodes: &[&Node]) -> String {
    first_of_nodes(nodes, nodes.len())
}

/// The names of the first of `count` nodes.
pub(super) fn first_of_nodes(nodes: &[&Node], count: usize) -> String {
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).take(2).collect();
    match count {
        0 => "no node".to_owned(),
        1 | 2 => format!("{} {}", if count == 1 { "node" } else { "nodes" }, names.join(" and ")),
        n => format!("nodes {} and {} more", names.join(", "), n - 2),
    }
}

/// The instance types, for pools that are scaled to zero. A base has types of its own, which must not stay.
fn instance_types(frame: &Frame<'_>, base: Option<&FabricProfile>) -> Option<YamlEntry> {
    let types: Option<BTreeSet<String>> =
        frame.nodes.iter().map(|node| node.instance_type().map(str::to_owned)).collect();
    let cloud = frame.nodes.iter().any(|node| node.provider() != super::node_as_shown::Provider::Other);
    let selects = frame.selector.iter().any(|label| label.key == INSTANCE_TYPE);
    let inherited = base.is_some_and(|base| base.spec.instance_types.is_some());
    let from =
        |of: &str| format!("label {INSTANCE_TYPE} of {of}; it also selects pools that are scaled to zero");
    match types {
        Some(types) if selects || cloud || inherited => {
            Some(entry_with_source_comment("instanceTypes", texts(&types), from(&nodes_of(frame.nodes))))
        }
        None if inherited => Some(entry_with_source_comment(
            "instanceTypes",
            Tree::List(Vec::new()),
            format!("nodes have no label {INSTANCE_TYPE}"),
        )),
        _ => None,
    }
}

fn rails(fabric: &Fabric) -> Option<YamlEntry> {
    let item = |rail: &super::fields_with_origin::Rail| {
        let mut entries =
            vec![entry_with_source_comment("network", Tree::text(&rail.network.value), &rail.network.from)];
        if let Some(resource) = &rail.resource {
            entries.push(entry_with_source_comment("resource", Tree::text(&resource.value), &resource.from));
        }
        if let Some(count) = &rail.count {
            entries.push(entry_with_source_comment("count", Tree::Number(count.value), &count.from));
        }
        Item { value: Tree::Map(entries), from: String::new() }
    };
    let items: Vec<Item> = fabric.rails.iter().map(item).collect();
    (!items.is_empty()).then(|| entry_with_source_comment("rails", Tree::List(items), ""))
}

fn resources(fabric: &Fabric) -> Option<YamlEntry> {
    let item = |resource: &Resource| {
        let mut entries = vec![
            entry_with_source_comment("name", Tree::text(&resource.name.value), &resource.name.from),
            entry_with_source_comment(
                "quantity",
                Tree::Number(resource.quantity.value),
                &resource.quantity.from,
            ),
        ];
        if resource.per != Per::Container {
            entries.push(entry_with_source_comment(
                "per",
                Tree::text(word(&resource.per)),
                &resource.quantity.from,
            ));
        }
        Item { value: Tree::Map(entries), from: String::new() }
    };
    let items: Vec<Item> = fabric.resources.iter().map(item).collect();
    (!items.is_empty()).then(|| entry_with_source_comment("resources", Tree::List(items), ""))
}

/// GKE's networks, unless they are named as in the base.
fn gke(fabric: &Fabric, base: Option<&FabricProfile>) -> Option<YamlEntry> {
    if fabric.gke.is_empty() {
        return None;
    }
    let inherited = base.and_then(|base| base.spec.gke_networks.as_ref()).is_some_and(|networks| {
        let known = networks.interfaces.iter().map(|of| (of.interface_name.as_str(), of.network.as_str()));
        known.eq(fabric.gke.iter().map(|of| (of.interface.as_str(), of.network.value.as_str())))
    });
    if inherited {
        return None;
    }
    // The pod's annotation gives its interfaces their names, so no object of the cluster has them.
    let named = base.map(|base| format!("as in base {}", base.metadata.name)).unwrap_or_default();
    let item = |of: &super::fields_with_origin::GkeInterface| Item {
        value: Tree::Map(vec![
            entry_with_source_comment("interfaceName", Tree::text(&of.interface), &named),
            entry_with_source_comment("network", Tree::text(&of.network.value), &of.network.from),
        ]),
        from: String::new(),
    };
    let networks = Tree::Map(vec![
        entry_with_source_comment("defaultInterface", Tree::text("eth0"), &named),
        entry_with_source_comment("interfaces", Tree::List(fabric.gke.iter().map(item).collect()), ""),
    ]);
    Some(entry_with_source_comment("gkeNetworks", networks, ""))
}

//! What the pod's networks take and what its containers hold, joined with the facts: once for all rules, in one walk
//! over the containers. A pod may have thousands of containers and of networks.

use crate::facts::{NetworkClass, ResourceFact};
use crate::multus::{NetworkFact, ResourceName, Selection};
use crate::pod::units::Holder;
use crate::text::printable;

/// Networks and devices of one pod, with the plan laid over it.
#[derive(Debug, Default)]
pub(crate) struct Devices<'a> {
    /// Items of the annotation, in order.
    pub(super) items: Vec<Item<'a>>,
    /// Networks of the annotation, each once.
    pub(super) networks: Vec<Attached<'a>>,
    /// Resources that the networks take, by name.
    pub(super) needs: Vec<Need<'a>>,
    /// Resources that containers hold and of which something is known.
    pub(super) held: Vec<Held<'a>>,
}

/// An item of the annotation.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// As the pod writes it.
    pub(super) selection: &'a Selection<'a>,
    /// Its network, by the place in the list of networks.
    pub(super) network: usize,
}

/// A network of the annotation.
#[derive(Debug)]
pub(super) struct Attached<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// How often it is named.
    pub(super) times: i64,
    /// What is known of it. `None` also where a tenant may not know it.
    pub(super) known: Option<Known<'a>>,
}

/// What is known of a network.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) fact: &'a NetworkFact,
    pub(super) class: NetworkClass<'a>,
}

/// Attachments that take units of one resource.
#[derive(Debug)]
pub(super) struct Need<'a> {
    /// The resource as messages name it.
    pub(super) shown: String,
    pub(super) resource: ResourceName,
    pub(super) attachments: i64,
    /// Those of them that fail without a unit: of a plugin that is known to take one, and without a device of their own.
    pub(super) certain_attachments: i64,
    /// Whether every one of them is known to take a unit where there is one.
    pub(super) known: bool,
    /// Who holds how much of it, under which name.
    pub(super) holders: Vec<(Holder, &'a str, i64)>,
    /// A resource of the same name behind another prefix that a container holds.
    pub(super) namesake: Option<&'a str>,
}

/// A resource that containers hold.
#[derive(Debug)]
pub(super) struct Held<'a> {
    pub(super) name: &'a str,
    pub(super) fact: &'a ResourceFact,
    /// Those that run beside one another, and how much each holds; never empty, never 0.
    pub(super) holders: Vec<(Holder, i64)>,
}

impl Attached<'_> {
    /// Namespace and name, for messages.
    pub(super) fn told(&self) -> String {
        format!("{}/{}", self.namespace, printable(self.name, 63))
    }
}

impl Need<'_> {
    /// Units that Multus can hand out: those of app containers and native sidecars.
    pub(super) fn units(&self) -> i64 {
        let running = self.holders.iter().filter(|(holder, ..)| holder.runs());
        running.fold(0, |sum, (_, _, units)| sum.saturating_add(*units))
    }
}

impl Held<'_> {
    /// JSON pointer of the quantity of its first holder.
    pub(super) fn path(&self) -> String {
        let holder = self.holders.first().map(|(holder, _)| holder.path()).unwrap_or_default();
        format!("{holder}/resources/limits/{}", crate::text::token(self.name))
    }
}

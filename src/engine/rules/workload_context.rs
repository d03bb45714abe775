//! The context of a rule on workloads: an object that creates pods, with all of its templates side by side.

use crate::decision_limits::DecisionLimits;
use crate::demands::Subject;
use crate::facts::NamespaceFacts;
use crate::json::decode_with_place::DecodeError;
use crate::plan::pod_with_plan::PodWithPlan;
use crate::plan::{Edit, Plan};
use crate::pod::PodView;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::limits_of_template_search::PartNotSearched;
use crate::pod::nic_resource_names::is_rdma_device_by_name;
use crate::pod::pod_fields::Metadata;
use crate::pod::templates_by_shape::PodCreator;
use crate::resolve::Resolution;
use crate::snapshot::Snapshot;

/// The context of a rule on workloads. An object that wraps others, such as an AppWrapper, gives one context for each of
/// them: templates of different jobs have nothing to do with each other.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadContext<'a> {
    /// The time limit.
    pub deadline: &'a DecisionLimits<'a>,
    /// The object that makes the pods, with its place in the one that was given.
    pub maker: &'a PodCreator<'a>,
    /// Its metadata.
    pub metadata: Option<&'a Metadata<'a>>,
    /// Whether its pods work together, where it is known.
    pub gang: Option<&'a MultiNodeEvidence>,
    /// Its namespace.
    pub namespace: &'a str,
    /// Known facts about the namespace.
    pub namespace_facts: Option<&'a NamespaceFacts>,
    /// Its pod templates.
    pub templates: &'a [WorkloadTemplate<'a>],
    /// Whether the object has further templates, which are not looked at.
    pub incomplete: bool,
    /// The first part of the object that the search for templates leaves out.
    pub(crate) not_searched: Option<&'a PartNotSearched<'a>>,
    /// What else of the object is not checked.
    pub(crate) not_checked: Option<&'a NotChecked>,
    /// The first of its pod templates that cannot be read, if nothing else reports it: its place, and why.
    pub(crate) unread: Option<(&'a str, &'a DecodeError)>,
    /// Everything else that is known.
    pub snapshot: &'a Snapshot,
}

/// What is not checked of an object that has parts of pods in place of templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotChecked {
    /// The training runtime of a TrainJob, although it is known.
    Runtime,
    /// The part at this JSON pointer, because it is too long or cannot be read.
    Part(String),
}

/// One pod template of a workload.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadTemplate<'a> {
    /// JSON pointer in the object that was given.
    pub pointer: &'a str,
    /// The role of its pods among the others; empty where it is not known.
    pub role: &'a str,
    /// Concurrent pods of it (count), where that is known.
    pub pods: Option<u64>,
    /// The template.
    pub pod: &'a PodView<'a>,
    /// What was found about it; `None` where it is not in scope.
    pub asked: Option<FoundAboutTemplate<'a>>,
    /// Whether it is compared with the other templates. If not, `asked` is `None`.
    pub compared: bool,
    /// Whether it is checked at all.
    pub checked: bool,
}

/// What was found about a template in scope.
#[derive(Debug, Clone, Copy)]
pub struct FoundAboutTemplate<'a> {
    /// Known facts about the template.
    pub subject: &'a Subject<'a>,
    /// How the profile was found.
    pub resolution: &'a Resolution,
    /// The plan.
    pub plan: &'a Plan,
    /// The template with the plan laid over it.
    pub overlay: PodWithPlan<'a>,
}

impl<'a> WorkloadContext<'a> {
    /// Templates in scope, as long as there is time.
    pub fn templates_in_scope(
        &self,
    ) -> impl Iterator<Item = (&'a WorkloadTemplate<'a>, FoundAboutTemplate<'a>)> {
        self.templates.iter().take_while(|_| !self.deadline.is_over()).filter_map(|t| Some((t, t.asked?)))
    }
}

impl WorkloadTemplate<'_> {
    /// Its role, or its place where it has none.
    #[must_use]
    pub fn role_or_pointer(&self) -> &str {
        if self.role.is_empty() { self.pointer } else { self.role }
    }
}

impl FoundAboutTemplate<'_> {
    /// Units of RDMA devices that a pod gets, as far as names and the profile show.
    #[must_use]
    pub fn rdma_units(&self) -> i64 {
        let profile = self.resolution.profile().map(|(p, _)| p).filter(|p| p.transport.is_verbs());
        let served =
            |name: &str| profile.is_some_and(|p| p.has_resource(name)) || is_rdma_device_by_name(name);
        let mut units = 0_i64;
        for (index, container) in self.overlay.pod_before_plan().containers().iter().enumerate() {
            let planned =
                self.plan.changes_of_container(index).iter().filter_map(|change| match &change.edit {
                    Edit::Quantity { name, .. } => Some(name.as_str()),
                    _ => None,
                });
            let mut names: Vec<&str> =
                container.resource_names().chain(planned).filter(|n| served(n)).collect();
            names.sort_unstable();
            names.dedup();
            let of = |name: &&str| self.overlay.final_units_in_limits(index, container, name);
            units = names.iter().map(of).fold(units, i64::saturating_add);
        }
        units
    }
}

//! The node filter: which nodes a pod can run on, by the rules of kube-scheduler (plugins NodeName, NodeAffinity and
//! TaintToleration), without cordons and passing taints.

use super::conditions_on_single_nodes::{
    LookBudget, SingleNodeCondition, keep_matching_classes_within_budget,
};
use super::label_requirement::{LabelRequirement, Relation, Values};
use super::node_classes::ClassSet;
use super::nodes_view::NodeView;
use super::taints_and_tolerations::{Taint, Toleration, Tolerations};
use crate::decision_limits::{DecisionLimits, NEVER};
use crate::pod::PodView;
use crate::pod::affinity_and_tolerations::{NodeSelectorRequirement, NodeSelectorTerm};
use crate::pod::limits_and_costs_of_pods::MAX_NODE_SELECTOR;
use crate::profile::schema::LabelSelector;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

/// Most conditions and values, and most tolerations, that are read; real pods have a handful. Without a limit one pod
/// could take minutes.
const MAX_CONDITIONS_OR_TOLERATIONS: usize = 4096;

/// What a comparison of numbers counts for beside its value.
const CONDITIONS_OF_COMPARISON: usize = 64;

/// All fields of a pod that restrict its nodes.
#[derive(Debug, Default)]
pub struct NodeConstraintsOfPod<'a> {
    /// `spec.nodeName`.
    pub node_name: Option<&'a str>,
    /// `spec.nodeSelector`; of a repeated key the last value, as in Go.
    pub selector: Vec<LabelRequirement<'a>>,
    /// Terms of the required node affinity, one of which must hold; `None` without such an affinity.
    pub terms: Option<Vec<AffinityTerm<'a>>>,
    /// `spec.tolerations`.
    pub tolerations: Tolerations<'a>,
    /// Extended resources that the pod requests.
    pub resources: BTreeSet<&'a str>,
    /// Whether the pod has more conditions than are read: then its selector and affinity count as absent, so that a long
    /// list does not lead past the profiles of its nodes.
    pub any_labels: bool,
    /// Whether it has more tolerations than are read: then it counts as tolerating every taint.
    pub any_taints: bool,
}

/// One term of a node affinity; every requirement must hold.
#[derive(Debug, Default, Hash)]
pub struct AffinityTerm<'a> {
    /// On labels.
    pub labels: Vec<LabelRequirement<'a>>,
    /// On the node's name.
    pub names: Vec<LabelRequirement<'a>>,
    /// Whether it can match nothing: it is empty, or has a value that the API server refuses.
    pub void: bool,
}

impl<'a> NodeConstraintsOfPod<'a> {
    /// Reads the constraints of a pod.
    #[must_use]
    pub fn of(pod: &'a PodView<'a>) -> Self {
        let Some(spec) = &pod.spec else { return Self::default() };
        // A pod with a longer selector gets no profile, so nothing depends on it. The API server itself adds tolerations, so that
        // they have a limit of their own.
        let any_labels = spec.node_selector.as_ref().is_some_and(|s| s.0.len() > MAX_NODE_SELECTOR)
            || Self::count_node_conditions(pod, CONDITIONS_OF_COMPARISON) > MAX_CONDITIONS_OR_TOLERATIONS;
        let any_taints = pod.tolerations().len() > MAX_CONDITIONS_OR_TOLERATIONS;
        let pairs = spec.node_selector.iter().filter(|_| !any_labels).flat_map(|s| s.iter());
        let mut at: BTreeMap<&str, usize> = BTreeMap::new();
        let mut selector: Vec<LabelRequirement<'_>> = Vec::new();
        for requirement in pairs.map(|(key, value)| LabelRequirement::key_equals_value(key, value)) {
            let place = *at.entry(requirement.key).or_insert(selector.len());
            match selector.get_mut(place) {
                Some(earlier) => *earlier = requirement,
                None => selector.push(requirement),
            }
        }
        let asked = pod.containers().iter().chain(pod.init_containers()).flat_map(|c| {
            let positive = |name: &&str| c.units_of_resource(name).is_some_and(|units| units > 0);
            c.resource_names().filter(|name| name.contains('/')).filter(positive)
        });
        let required = pod.affinity().and_then(|a| a.node_affinity.as_ref()?.required.as_ref());
        let required = required.filter(|_| !any_labels);
        let tolerations = if any_taints { &[] } else { pod.tolerations() };
        Self {
            node_name: pod.node_name(),
            selector,
            terms: required
                .map(|r| r.node_selector_terms.as_deref().unwrap_or_default().iter().map(term).collect()),
            tolerations: tolerations
                .iter()
                .map(|t| Toleration {
                    key: t.key.as_deref().unwrap_or_default(),
                    operator: t.operator.as_deref().unwrap_or_default(),
                    value: t.value.as_deref().unwrap_or_default(),
                    effect: t.effect.as_deref().unwrap_or_default(),
                })
                .collect(),
            resources: asked.collect(),
            any_labels,
            any_taints,
        }
    }

    /// Whether the pod states more than is read: more nodes may count than it can run on.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.any_labels || self.any_taints
    }

    /// What decides where it can run, beside taints.
    pub(crate) fn hashable_without_tolerations(&self) -> impl Hash {
        (self.node_name, &self.selector, &self.terms)
    }

    /// The same with a profile's selector in every term, as placement writes it into a pod.
    #[must_use]
    pub fn with_selector_in_every_term(mut self, selector: &'a LabelSelector) -> Self {
        let terms = self.terms.take().filter(|terms| !terms.is_empty());
        let mut terms = terms.unwrap_or_else(|| vec![AffinityTerm::default()]);
        for term in terms.iter_mut().filter(|t| !t.void) {
            term.labels.extend(selector.label_requirements());
        }
        self.terms = Some(terms);
        self
    }

    /// The number of conditions on nodes: entries of the selector, requirements and their values. A comparison of
    /// numbers counts for so many more, since it can select many values.
    pub(crate) fn count_node_conditions(pod: &PodView<'_>, of_comparison: usize) -> usize {
        let requirement = |r: &NodeSelectorRequirement<'_>| {
            let compares = matches!(r.operator.as_deref(), Some("Gt" | "Lt"));
            1 + r.values().len() + if compares { of_comparison } else { 0 }
        };
        let terms = pod.affinity().and_then(|a| a.required_node_terms()).unwrap_or_default().iter();
        let selector = pod.spec.as_ref().and_then(|s| s.node_selector.as_ref());
        terms
            .map(|t| 1 + t.expressions().iter().chain(t.fields()).map(requirement).sum::<usize>())
            .sum::<usize>()
            + selector.map_or(0, |s| s.0.len())
    }

    /// Whether taints with this key are tolerated. A taint named like a resource that the pod requests counts as tolerated: if the
    /// plugin ExtendedResourceToleration is on, the API server adds that toleration later (kubernetes/kubernetes
    /// plugin/pkg/admission/extendedresourcetoleration/admission.go); if it is off, the pod stays Pending and no harm
    /// is done.
    pub fn tolerates_or_requests_resource_of_key(&self, key: &str) -> impl Fn(&Taint) -> bool + use<'a, '_> {
        let every = self.any_taints || self.resources.contains(key);
        let tolerates = self.tolerations.tolerate_taints_of_key(key);
        move |taint| every || tolerates(taint)
    }
}

fn term<'a>(term: &'a NodeSelectorTerm<'a>) -> AffinityTerm<'a> {
    let mut read = AffinityTerm { void: term.is_empty(), ..AffinityTerm::default() };
    for expression in term.expressions() {
        match requirement(expression) {
            Some(requirement) => read.labels.push(requirement),
            None => read.void = true,
        }
    }
    for field in term.fields() {
        // The only supported field (kubernetes/kubernetes pkg/apis/core/validation,
        // `ValidateNodeFieldSelectorRequirement`).
        match requirement(field).filter(|r| r.key == "metadata.name") {
            Some(requirement) => read.names.push(requirement),
            None => read.void = true,
        }
    }
    read
}

fn requirement<'a>(read: &'a NodeSelectorRequirement<'a>) -> Option<LabelRequirement<'a>> {
    Some(LabelRequirement {
        key: read.key.as_deref()?,
        relation: Relation::parse(read.operator.as_deref()?)?,
        values: Values::Texts(read.values.as_deref().unwrap_or_default()),
    })
}

/// The classes that have a node the pod can run on.
#[must_use]
pub fn classes_pod_can_run_on(constraints: &NodeConstraintsOfPod<'_>, view: &NodeView) -> ClassSet {
    let tolerated = || {
        view.classes
            .classes_with_tolerated_taints(|key| constraints.tolerates_or_requests_resource_of_key(key))
    };
    classes_pod_can_run_on_within_deadline(tolerated, constraints, view, &NEVER)
}

/// The same, with the classes whose taints the pod tolerates; incomplete if the time is over in between.
#[must_use]
pub(crate) fn classes_pod_can_run_on_within_deadline(
    tolerated: impl FnOnce() -> ClassSet,
    constraints: &NodeConstraintsOfPod<'_>,
    view: &NodeView,
    deadline: &DecisionLimits<'_>,
) -> ClassSet {
    classes_pod_can_run_on_within_budget(tolerated, constraints, view, &mut LookBudget::new(deadline))
}

pub(super) fn classes_pod_can_run_on_within_budget(
    tolerated: impl FnOnce() -> ClassSet,
    constraints: &NodeConstraintsOfPod<'_>,
    view: &NodeView,
    budget: &mut LookBudget<'_>,
) -> ClassSet {
    if let Some(name) = constraints.node_name {
        return class_of_named_node(name, view);
    }
    let mut set = tolerated();
    let mut shared: Vec<SingleNodeCondition<'_>> = Vec::new();
    for requirement in &constraints.selector {
        if view.own_keys.contains_key(requirement.key) {
            shared.push(SingleNodeCondition::of(requirement));
        } else {
            view.classes.remove_classes_not_satisfying(&mut set, *requirement);
        }
    }
    match &constraints.terms {
        None => keep_matching_classes_within_budget(view, set, [&shared, &[]], &[], budget),
        Some(terms) => {
            let mut any = view.classes.empty_set();
            for term in terms.iter().filter(|t| !t.void) {
                if budget.is_over() {
                    break;
                }
                let mut fits = set.clone();
                let mut own: Vec<SingleNodeCondition<'_>> = Vec::new();
                for requirement in &term.labels {
                    if view.own_keys.contains_key(requirement.key) {
                        own.push(SingleNodeCondition::of(requirement));
                    } else {
                        view.classes.remove_classes_not_satisfying(&mut fits, *requirement);
                    }
                }
                if !fits.is_clear() {
                    let names: Vec<_> = term.names.iter().map(SingleNodeCondition::of).collect();
                    any.union_with(&keep_matching_classes_within_budget(
                        view,
                        fits,
                        [&shared, &own],
                        &names,
                        budget,
                    ));
                }
            }
            any
        }
    }
}

pub(super) fn class_of_named_node(name: &str, view: &NodeView) -> ClassSet {
    let mut set = view.classes.empty_set();
    if let Some(class) = view.class_number_of_node(name) {
        set.insert(class);
    }
    set
}

//! The pod templates of a workload that are decided alike: most workloads have one template many times. Each is examined
//! once, and its result holds for all of them.

use super::decide_pod::ExaminedPod;
use super::template_progress::State;
use super::{Decision, PodRequest};
use crate::json::decode_with_place::DecodeError;
use crate::pod::PodView;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::limits_and_costs_of_pods::MAX_COMPARED_VALUES;
use crate::pod::templates_by_shape::{DevShm, Template};
use crate::snapshot::Snapshot;
use std::collections::HashMap;
use std::rc::Rc;

/// The pods of templates, each text read once.
pub(super) struct Pods<'a> {
    read: Vec<Result<PodView<'a>, DecodeError>>,
    /// For each template, the number of its text.
    numbers: Vec<usize>,
}

impl<'a> Pods<'a> {
    /// Reads them, as long as there is time.
    pub(super) fn read_each_text_once(templates: &[Template<'a>], in_time: impl Fn() -> bool) -> Self {
        if let [one] = templates {
            return match in_time() {
                true => Self { read: vec![PodView::read(one.json)], numbers: vec![0] },
                false => Self { read: Vec::new(), numbers: Vec::new() },
            };
        }
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut pods = Self { read: Vec::new(), numbers: Vec::new() };
        for template in templates.iter().take_while(|_| in_time()) {
            let number = *known.entry(template.json).or_insert_with(|| {
                pods.read.push(PodView::read(template.json));
                pods.read.len() - 1
            });
            pods.numbers.push(number);
        }
        pods
    }

    /// The pod of each template, with the number of its text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Result<PodView<'a>, DecodeError>)> {
        self.numbers.iter().filter_map(|number| Some((*number, self.read.get(*number)?)))
    }
}

/// What a decision on a template depends on.
#[derive(PartialEq, Eq, Hash)]
struct TemplateGroupKey<'p> {
    text: usize,
    ranks_over_ssh: bool,
    gang: Option<&'p MultiNodeEvidence>,
    siblings: Option<u64>,
    suspended: bool,
    dev_shm: DevShm,
}

/// Several templates that are decided alike.
struct TemplateGroup<'p, T> {
    state: State<'p>,
    result: Option<T>,
}

/// The groups of templates so far, by number.
pub(super) struct TemplateGroups<'p, T, R> {
    numbers: HashMap<TemplateGroupKey<'p>, usize>,
    groups: Vec<TemplateGroup<'p, T>>,
    /// Turns a decision into what is kept of it.
    result: R,
    /// Values that are planned in the templates that are compared (count).
    compared: usize,
    /// What was checked so far, as a number of planned values, and above which number no further template is checked.
    checked: usize,
    most_checked: usize,
}

impl<'p, T: Clone, R: Fn(Decision) -> T> TemplateGroups<'p, T, R> {
    pub(super) fn new(most_checked: usize, result: R) -> Self {
        Self { numbers: HashMap::new(), groups: Vec::new(), result, compared: 0, checked: 0, most_checked }
    }

    /// Examines the pod of a template, unless one like it was examined before. The number of its group, and its state.
    pub(super) fn examine_and_limit_new_template(
        &mut self,
        (text, pod): (usize, &'p Result<PodView<'p>, DecodeError>),
        request: PodRequest<'p>,
        snapshot: &'p Snapshot,
    ) -> (usize, State<'p>) {
        let PodRequest { ranks_over_ssh, gang, siblings, suspended, dev_shm, .. } = request;
        let alike = TemplateGroupKey { text, ranks_over_ssh, gang, siblings, suspended, dev_shm };
        let next = self.groups.len();
        let number = *self.numbers.entry(alike).or_insert(next);
        if number == next {
            let state = match pod {
                Err(_) => State::Unseen,
                Ok(_) if self.checked > self.most_checked => State::Unchecked,
                Ok(pod) => ExaminedPod::resolve_and_plan_if_in_scope(pod, request, snapshot)
                    .map_or(State::Unseen, |examined| State::Examined(Rc::new(examined))),
            };
            if let State::Examined(examined) = &state {
                self.checked = self.checked.saturating_add(examined.cost_in_planned_values());
            }
            self.groups.push(TemplateGroup { state, result: None });
        }
        let Some(group) = self.groups.get_mut(number) else { return (number, State::Unseen) };
        let State::Examined(examined) = &group.state else { return (number, group.state.clone()) };
        let planned = examined.count_planned_values();
        // The first is always compared.
        if self.compared == 0 || self.compared.saturating_add(planned) <= MAX_COMPARED_VALUES {
            self.compared = self.compared.saturating_add(planned);
            return (number, group.state.clone());
        }
        // What no template that is compared needs is not kept.
        if Rc::strong_count(examined) == 1
            && let State::Examined(examined) = std::mem::replace(&mut group.state, State::Judged)
        {
            group.result = Rc::into_inner(examined)
                .map(|examined| (self.result)(examined.check_rules_and_decide(request)));
        }
        (number, State::Judged)
    }

    /// The result for a template, once no state is in use any more; `None` if it was not checked.
    pub(super) fn decide_group_once(&mut self, number: usize, request: PodRequest<'_>) -> Option<T> {
        let group = self.groups.get_mut(number)?;
        if matches!(group.state, State::Unchecked) {
            return None;
        }
        if group.result.is_none() {
            let decision = match std::mem::replace(&mut group.state, State::Judged) {
                State::Examined(examined) => {
                    Rc::into_inner(examined).map(|e| e.check_rules_and_decide(request))
                }
                _ => None,
            };
            group.result = Some((self.result)(decision.unwrap_or_default()));
        }
        group.result.clone()
    }
}

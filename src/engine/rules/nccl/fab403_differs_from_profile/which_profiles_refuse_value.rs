//! What profiles of a pod's nodes require and forbid, beside the pod's own profile. A value that one of these profiles sets
//! is allowed on the nodes of this profile, and not on those of another. Each variable of a container is looked at once,
//! however often the container lists it, and only as many entries of profiles as the findings need.

use super::own_values::{OwnVariable, own_variables};
use super::which_containers_are_compared::ComparedContainer;
use crate::decision_limits::DecisionLimits;
use crate::plan::is_checked_by_nccl_version;
use crate::pod::limits_and_costs_of_pods::ENTRIES_PER_VALUE;
use crate::pod::pod_fields::Container;
use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};
use crate::rules::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use crate::rules::pod_context::PodContext;
use crate::snapshot::Catalog;
use fixedbitset::FixedBitSet;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Entries of one variable that are compared until the next question to the clock. Each takes up to 0.3 microseconds.
const ENTRIES_PER_QUESTION: usize = 64;

/// The profiles of a catalog by which a variable is restricted: their numbers, and those of the entries in them.
type Restricting = Rc<[(usize, usize)]>;

/// Profiles that a pod is compared with, and the pod's own one.
pub(super) struct ProfilesCompared<'a> {
    catalog: &'a Catalog,
    /// By the variables that were asked for, the entries of compared profiles. Entries of all other profiles are looked at
    /// once: a caller must not learn from the time of a decision what profiles of other namespaces set.
    restricting: RefCell<HashMap<&'a str, Restricting>>,
    /// Numbers of the profiles whose entries containers are compared with.
    compared: FixedBitSet,
    /// The same, and the numbers of the others that a pod without a profile can name.
    named: FixedBitSet,
    /// Values that the pod's own profile sets, by variable. They are allowed everywhere.
    own: HashMap<&'a str, Vec<&'a str>>,
}

/// An entry of a profile that requires or forbids a variable.
#[derive(Clone, Copy)]
pub(super) struct RestrictingEntry<'a> {
    /// Number of the profile, and of the entry in it.
    at: (usize, usize),
    pub(super) profile: &'a Profile,
    pub(super) entry: &'a EnvEntry,
}

impl<'a> ProfilesCompared<'a> {
    /// `own`: the pod's profile; `compared`: profiles whose entries containers are compared with; `beside`: others that
    /// a pod without a profile can name.
    pub(super) fn compare_with(
        catalog: &'a Catalog,
        own: Option<&'a Profile>,
        compared: impl Iterator<Item = &'a Profile>,
        beside: impl Iterator<Item = &'a Profile>,
    ) -> Self {
        let compared: FixedBitSet = compared.filter_map(|p| catalog.number(&p.name)).collect();
        let beside: FixedBitSet = beside.filter_map(|p| catalog.number(&p.name)).collect();
        let restricting = RefCell::default();
        let mut held =
            Self { catalog, restricting, named: &compared | &beside, compared, own: HashMap::new() };
        for entry in own.iter().flat_map(|p| &p.env).filter(|e| e.policy != EnvPolicy::Forbid) {
            held.own.entry(&entry.name).or_default().push(&entry.value);
        }
        held
    }

    /// The variables of a container that some profile requires or forbids, in the order of their names.
    pub(super) fn restricted_variables_of_container(
        &self,
        context: &'a PodContext<'_>,
        place: &ComparedContainer<'a>,
    ) -> impl Iterator<Item = RestrictedVariable<'_, 'a>> {
        let names: BTreeMap<&str, Restricting> = variables_of_container(context, place)
            .filter_map(|name| Some((name, self.entries_that_restrict(name)?)))
            .collect();
        let (container, deadline) = (place.container, context.deadline);
        let own = |(name, entries): (&'a str, Restricting)| {
            own_variables(context, place, name).map(move |own| (name, Rc::clone(&entries), own))
        };
        let all: Vec<_> = names.into_iter().flat_map(own).collect();
        let in_time = |entries: &Restricting| {
            context.deadline.take_values_or_cut_short(entries.len().div_ceil(ENTRIES_PER_VALUE))
                && !context.deadline.is_over()
        };
        all.into_iter().take_while(move |(_, entries, _)| in_time(entries)).map(
            move |(name, restricting, own)| {
                let text = own.value.as_ref().map(|v| &*v.text);
                let by_own =
                    text.is_some_and(|text| self.own.get(name).is_some_and(|all| all.contains(&text)));
                let entries = self.catalog.variables().get(name);
                let set_by =
                    text.zip(entries).map_or(&[][..], |(text, of)| of.numbers_of_profiles_that_set(text));
                RestrictedVariable { held: self, restricting, container, deadline, own, by_own, set_by }
            },
        )
    }

    /// The entries of compared profiles that restrict a variable; `None` where there are none.
    fn entries_that_restrict(&self, name: &'a str) -> Option<Restricting> {
        let mut known = self.restricting.borrow_mut();
        let entries = match known.get(name) {
            Some(entries) => entries,
            None => {
                let all = self.catalog.variables().get(name).map_or(&[][..], |entries| &entries.restricting);
                let compared = all.iter().filter(|(number, _)| self.compared.contains(*number));
                known.entry(name).or_insert(compared.copied().collect())
            }
        };
        (!entries.is_empty()).then(|| Rc::clone(entries))
    }
}

/// The variables that a container sets.
pub(super) fn variables_of_container<'c>(
    context: &'c PodContext<'_>,
    place: &ComparedContainer<'c>,
) -> impl Iterator<Item = &'c str> {
    let in_env = place.container.env().iter().filter_map(|e| e.name.as_deref());
    in_env.chain(context.overlay.nccl_conf_lines(place.app, place.container).map(|(name, _)| name))
}

/// A variable of a container, as profiles see it.
pub(super) struct RestrictedVariable<'h, 'a> {
    held: &'h ProfilesCompared<'a>,
    restricting: Restricting,
    container: &'a Container<'a>,
    deadline: &'a DecisionLimits<'a>,
    pub(super) own: OwnVariable<'a>,
    /// Whether the pod's own profile sets its value.
    by_own: bool,
    /// Numbers of the profiles that set its value, in order.
    set_by: &'a [usize],
}

impl<'a> RestrictedVariable<'_, 'a> {
    /// The entries that refuse it, in the order of the profiles' names, as long as the decision has time.
    fn refusing(&self) -> impl Iterator<Item = RestrictingEntry<'a>> {
        let (held, is_known) = (self.held, self.own.is_known());
        let all = (!self.by_own || !is_known).then_some(self.restricting.iter());
        let mut set_by = self.set_by.iter().copied().peekable();
        let in_time = |nth: usize| !nth.is_multiple_of(ENTRIES_PER_QUESTION) || !self.deadline.is_over();
        let all = all.into_iter().flatten().enumerate().take_while(move |(nth, _)| in_time(*nth));
        all.filter_map(move |(_, at)| {
            while set_by.next_if(|number| *number < at.0).is_some() {}
            let allowed = self.by_own || set_by.peek() == Some(&at.0);
            let profile = &**held.catalog.numbered().get(at.0)?;
            let compared = RestrictingEntry { at: *at, profile, entry: profile.env.get(at.1)? };
            // What the later entry of a variable gives is not known, and may be forbidden.
            let refused = match compared.entry.policy {
                EnvPolicy::Forbid => !allowed || !is_known,
                _ => !allowed && self.own.value.is_some(),
            };
            (refused && is_entry_compared(compared, self.container)).then_some(compared)
        })
    }

    /// The first entries that refuse it: as many that forbid it, and as many that require another value, as one rule
    /// reports.
    pub(super) fn first_refusing(&self) -> Vec<RestrictingEntry<'a>> {
        let (mut forbid, mut require) = (0, 0);
        let mut first = Vec::new();
        for compared in self.refusing() {
            let count = if compared.entry.policy == EnvPolicy::Forbid { &mut forbid } else { &mut require };
            *count += 1;
            if *count <= MAX_FINDINGS_PER_RULE_AND_SEVERITY {
                first.push(compared);
            }
            if forbid.min(require) >= MAX_FINDINGS_PER_RULE_AND_SEVERITY {
                break;
            }
        }
        first
    }
}

/// Whether an entry is compared in a container.
fn is_entry_compared(
    RestrictingEntry { profile, entry, .. }: RestrictingEntry<'_>,
    container: &Container<'_>,
) -> bool {
    // The pod does not have the interfaces of this profile's rails.
    is_checked_by_nccl_version(entry, container, profile)
        && !profile.rails.iter().any(|r| *r.interface == *entry.value)
}

/// The profiles that set every refused value of a pod. If the pod has no profile, it would be admitted with the name of
/// one of them, so it is admitted without.
#[derive(Default)]
pub(super) struct ProfilesThatSetRefusedValues(Option<Vec<usize>>);

impl ProfilesThatSetRefusedValues {
    /// Keeps those that set a value, if the value is refused. Whether any is left.
    pub(super) fn keep_profiles_that_set_value(&mut self, variable: &RestrictedVariable<'_, '_>) -> bool {
        let mut refusing = variable.refusing().peekable();
        if refusing.peek().is_none() {
            return true;
        }
        let is_known = variable.own.is_known();
        let forbidden = !is_known && refusing.any(|by| by.entry.policy == EnvPolicy::Forbid);
        let set_by = if forbidden { &[][..] } else { variable.set_by };
        let kept: Vec<usize> = match self.0.take() {
            None => set_by.iter().copied().filter(|number| variable.held.named.contains(*number)).collect(),
            Some(kept) => kept.into_iter().filter(|number| set_by.binary_search(number).is_ok()).collect(),
        };
        let any = !kept.is_empty();
        self.0 = Some(kept);
        any
    }
}

/// Entries of several variables that refuse them, in the order of the profiles.
pub(super) fn refusing_entries_in_order<'v, 'a>(
    variables: &'v [RestrictedVariable<'_, 'a>],
) -> impl Iterator<Item = (RestrictingEntry<'a>, &'v OwnVariable<'a>)> {
    let each = |v: &'v RestrictedVariable<'_, 'a>| v.first_refusing().into_iter().map(move |by| (by, &v.own));
    let mut each: Vec<(RestrictingEntry<'a>, &OwnVariable<'a>)> = variables.iter().flat_map(each).collect();
    each.sort_unstable_by_key(|(by, _)| by.at);
    each.into_iter()
}

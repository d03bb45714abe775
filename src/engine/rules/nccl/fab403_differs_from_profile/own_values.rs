//! The values that a container itself gives to variables of profiles.

use super::which_containers_are_compared::ComparedContainer;
use crate::plan::{FILE_ANNOTATION, NCCL_CONF};
use crate::pod::variable_value::{PodBehindVariables, entries_that_may_decide, value_shown_by_pod};
use crate::rules::pod_context::PodContext;
use std::borrow::Cow;

/// A variable of a container.
pub(super) struct OwnVariable<'c> {
    /// Its last entry.
    pub(super) last: WhereOwnVariableIsSet,
    /// Its value, where the pod shows it.
    pub(super) value: Option<OwnValue<'c>>,
}

/// Where a variable is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WhereOwnVariableIsSet {
    /// In the container's `env`, at this place.
    Env(usize),
    /// In its `/etc/nccl.conf`, which shows an annotation of the pod.
    File,
}

impl WhereOwnVariableIsSet {
    /// The path of a finding about it.
    pub(super) fn path(self, container: &str) -> String {
        match self {
            Self::Env(nth) => format!("{container}/env/{nth}"),
            Self::File => container.to_owned(),
        }
    }

    /// What a message says after the value.
    pub(super) fn place_in_words(self) -> &'static str {
        match self {
            Self::Env(_) => "",
            Self::File => " in nccl.conf",
        }
    }

    /// What a fix says after the name.
    pub(super) fn origin_in_words(self) -> String {
        match self {
            Self::Env(_) => String::new(),
            Self::File => format!(" from annotation {FILE_ANNOTATION}{NCCL_CONF}"),
        }
    }
}

pub(super) struct OwnValue<'c> {
    /// The entry that has it.
    pub(super) entry: WhereOwnVariableIsSet,
    pub(super) text: Cow<'c, str>,
    /// Whether it takes effect only if the optional source of a later entry is missing.
    pub(super) earlier: bool,
}

impl OwnVariable<'_> {
    /// Whether the pod shows the value that the variable has at the start.
    pub(super) fn is_known(&self) -> bool {
        self.value.as_ref().is_some_and(|value| !value.earlier)
    }
}

/// A variable of a container, in its `env` and in its file; nothing where neither lists it.
pub(super) fn own_variables<'c>(
    context: &'c PodContext<'_>,
    place: &ComparedContainer<'c>,
    name: &str,
) -> impl Iterator<Item = OwnVariable<'c>> + use<'c> {
    own_variable_in_env(context, place, name)
        .into_iter()
        .chain(own_variable_in_nccl_conf(context, place, name))
}

fn own_variable_in_env<'c>(
    context: &'c PodContext<'_>,
    place: &ComparedContainer<'c>,
    name: &str,
) -> Option<OwnVariable<'c>> {
    let (last, _) = place.container.last_entry_of_variable(name)?;
    // The entries before the one that ends the list have optional sources, whose values the pod does not show.
    let (nth, entry) = entries_that_may_decide(place.container, name).last()?;
    let shown = PodBehindVariables {
        pod: context.pod(),
        namespace: context.subject.namespace,
        written: &|key| context.overlay.written_annotation(key),
        is_final: context.is_final,
    };
    let text = value_shown_by_pod((nth, entry), place.container, shown);
    let value =
        text.map(|text| OwnValue { entry: WhereOwnVariableIsSet::Env(nth), text, earlier: nth != last });
    Some(OwnVariable { last: WhereOwnVariableIsSet::Env(last), value })
}

/// A source of `envFrom` may set the variable too, and the line would then change nothing. But what would change nothing can
/// go without a loss.
fn own_variable_in_nccl_conf<'c>(
    context: &'c PodContext<'_>,
    place: &ComparedContainer<'c>,
    name: &str,
) -> Option<OwnVariable<'c>> {
    let container = (place.app, place.container);
    let text = context.overlay.value_taken_from_nccl_conf(container, name, context.subject.ranks_over_ssh)?;
    let value = OwnValue { entry: WhereOwnVariableIsSet::File, text: Cow::Borrowed(text), earlier: false };
    Some(OwnVariable { last: WhereOwnVariableIsSet::File, value: Some(value) })
}

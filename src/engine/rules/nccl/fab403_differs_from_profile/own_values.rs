//! The values that a container itself gives to variables of profiles.

use super::places::Place;
use crate::plan::{FILE_ANNOTATION, NCCL_CONF};
use crate::pod::variable_value::{Shown, deciding, value};
use crate::rules::pod_context::PodContext;
use std::borrow::Cow;

/// A variable of a container.
pub(super) struct Own<'c> {
    /// Its last entry.
    pub(super) last: Entry,
    /// Its value, where the pod shows it.
    pub(super) value: Option<OwnValue<'c>>,
}

/// Where a variable is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// In the container's `env`, at this place.
    Env(usize),
    /// In its `/etc/nccl.conf`, which shows an annotation of the pod.
    File,
}

impl Entry {
    /// The path of a finding about it.
    pub(super) fn path(self, container: &str) -> String {
        match self {
            Self::Env(nth) => format!("{container}/env/{nth}"),
            Self::File => container.to_owned(),
        }
    }

    /// What a message says after the value.
    pub(super) fn place(self) -> &'static str {
        match self {
            Self::Env(_) => "",
            Self::File => " in nccl.conf",
        }
    }

    /// What a fix says after the name.
    pub(super) fn origin(self) -> String {
        match self {
            Self::Env(_) => String::new(),
            Self::File => format!(" from annotation {FILE_ANNOTATION}{NCCL_CONF}"),
        }
    }
}

pub(super) struct OwnValue<'c> {
    /// The entry that has it.
    pub(super) entry: Entry,
    pub(super) text: Cow<'c, str>,
    /// Whether it takes effect only if the optional source of a later entry is missing.
    pub(super) earlier: bool,
}

impl Own<'_> {
    /// Whether the pod shows the value that the variable has at the start.
    pub(super) fn is_known(&self) -> bool {
        self.value.as_ref().is_some_and(|value| !value.earlier)
    }
}

/// A variable of a container, in its `env` and in its file; nothing where neither lists it.
pub(super) fn own_variables<'c>(
    context: &'c PodContext<'_>,
    place: &Place<'c>,
    name: &str,
) -> impl Iterator<Item = Own<'c>> + use<'c> {
    in_env(context, place, name).into_iter().chain(in_file(context, place, name))
}

fn in_env<'c>(context: &'c PodContext<'_>, place: &Place<'c>, name: &str) -> Option<Own<'c>> {
    let (last, _) = place.container.env_var(name)?;
    // The entries before the one that ends the list have optional sources, whose values the pod does not show.
    let (nth, entry) = deciding(place.container, name).last()?;
    let shown = Shown {
        pod: context.pod(),
        namespace: context.subject.namespace,
        written: &|key| context.overlay.written_annotation(key),
        is_final: context.is_final,
    };
    let text = value(entry, place.container, shown);
    let value = text.map(|text| OwnValue { entry: Entry::Env(nth), text, earlier: nth != last });
    Some(Own { last: Entry::Env(last), value })
}

/// A source of `envFrom` may set the variable too, and the line would then change nothing. But what would change nothing can
/// go without a loss.
fn in_file<'c>(context: &'c PodContext<'_>, place: &Place<'c>, name: &str) -> Option<Own<'c>> {
    let container = (place.app, place.container);
    let text = context.overlay.value_taken_from_nccl_conf(container, name, context.subject.ranks_over_ssh)?;
    let value = OwnValue { entry: Entry::File, text: Cow::Borrowed(text), earlier: false };
    Some(Own { last: Entry::File, value: Some(value) })
}

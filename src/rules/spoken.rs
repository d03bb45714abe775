//! Variables of NCCL and its companions that a container sets.

use crate::nccl::table::Variable;
use crate::pod::shell::How;
use crate::pod::view::Container;
use std::borrow::Cow;

/// Where a variable is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// By the plan; or by the pod, as the profile has it.
    Planned,
    /// In a ConfigMap of `envFrom`, by position.
    EnvFrom(usize, &'a str),
    /// In `env`, by position.
    Env(usize),
    /// In `command` or `args`, by position.
    Text(&'static str, usize),
    /// In a script of a ConfigMap that an element of `command` or `args` names.
    Script(&'static str, usize, &'a str),
}

/// One thing said of one variable.
#[derive(Debug, Clone)]
pub(crate) struct Given<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Value; `None` where it is not known here.
    pub(crate) value: Option<Cow<'a, str>>,
    pub(crate) how: How,
    pub(crate) place: Place<'a>,
    pub(crate) known: Option<&'static Variable>,
}

/// What one app container says.
#[derive(Debug)]
pub(crate) struct Spoken<'a> {
    pub(crate) index: usize,
    pub(crate) container: &'a Container<'a>,
    /// By name; of one name, what counts more comes later.
    pub(super) all: Vec<Given<'a>>,
    /// Whether variables may come from where we cannot look: a Secret, an unknown ConfigMap, a sourced file.
    pub(crate) open: bool,
}

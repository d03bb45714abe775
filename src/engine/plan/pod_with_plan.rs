//! The final pod: the read model with a plan over it, without a second pod.

use super::nccl_conf_format::{self, ConfFile};
use super::{
    Edit, NCCL_CONF, NCCL_CONF_PATH, Plan, ResourceList, memlock_annotation, nccl_conf_and_small_files,
};
use crate::pod::pod_fields::{Container, PodView};
use crate::snapshot::{ByVariable, Catalog};

/// The value of a variable in the final container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable<'a> {
    /// A literal value.
    Value(&'a str),
    /// Taken from a field, ConfigMap or Secret; the value is not known.
    Unknown,
}

/// Reads the final state.
#[derive(Debug, Clone, Copy)]
pub struct PodWithPlan<'a> {
    pod: &'a PodView<'a>,
    plan: &'a Plan,
    /// Names of the variables in all profiles; `None` if it is not asked for variables.
    of_profiles: Option<&'a ByVariable>,
}

impl<'a> PodWithPlan<'a> {
    /// Lays a plan over a pod.
    #[must_use]
    pub fn new(pod: &'a PodView<'a>, plan: &'a Plan) -> Self {
        Self { pod, plan, of_profiles: None }
    }

    /// The same, with the names of the variables in all profiles: they are found in a file of any length.
    #[must_use]
    pub fn with_profiles(self, catalog: &'a Catalog) -> Self {
        Self { of_profiles: Some(catalog.variables()), ..self }
    }

    /// The unpatched pod.
    #[must_use]
    pub fn pod_before_plan(self) -> &'a PodView<'a> {
        self.pod
    }

    fn edits_of(self, container: usize) -> impl Iterator<Item = &'a Edit> {
        self.plan.changes_of_container(container).iter().map(|c| &c.edit)
    }

    /// Units of a resource that an app container gets.
    #[must_use]
    pub fn final_units_in_limits(self, index: usize, container: &Container<'_>, resource: &str) -> i64 {
        let planned = self.edits_of(index).find_map(|e| match e {
            Edit::Quantity { list: ResourceList::Limits, name, units, .. } if name == resource => {
                Some(*units)
            }
            _ => None,
        });
        planned.or_else(|| container.units_of_resource(resource)).unwrap_or(0)
    }

    /// Volume that the plan mounts at `/dev/shm` of an app container.
    #[must_use]
    pub fn planned_shm_volume(self, index: usize) -> Option<&'a str> {
        self.edits_of(index).find_map(|e| match e {
            Edit::ShmMount { volume, .. } => Some(volume.as_str()),
            _ => None,
        })
    }

    /// Whether `IPC_LOCK` is planned for an app container.
    #[must_use]
    pub fn adds_ipc_lock(self, index: usize) -> bool {
        self.edits_of(index).any(|e| matches!(e, Edit::Capability { .. }))
    }

    /// Whether the NRI plugin will set the memlock limit of an app container.
    #[must_use]
    pub fn nri_plugin_sets_memlock(self, index: usize) -> bool {
        let find = || {
            memlock_annotation::containers_with_lifted_memlock(self.pod, self.plan.changes_of_pod_itself())
        };
        self.plan.read_once.with_memlock.get_or_init(find).contains(&index)
    }

    /// Value of the networks annotation, if the plan changes it.
    #[must_use]
    pub fn planned_networks(self) -> Option<&'a str> {
        self.plan.changes_of_pod_itself().iter().find_map(|c| match &c.edit {
            Edit::Networks { value, .. } => Some(value.as_str()),
            _ => None,
        })
    }

    /// The text that the plan writes into an annotation.
    #[must_use]
    pub fn written_annotation(self, key: &str) -> Option<&'a str> {
        let mut written =
            self.plan.changes_of_pod_itself().iter().filter_map(|c| c.edit.annotation_that_it_sets());
        written.rfind(|(written, ..)| **written == *key).map(|(_, text, _)| text)
    }

    /// A variable of an app container.
    #[must_use]
    pub fn variable(self, index: usize, container: &'a Container<'a>, name: &str) -> Option<Variable<'a>> {
        if let Some((_, entry)) = container.last_entry_of_variable(name) {
            return Some(entry.literal_or_empty().map_or(Variable::Unknown, Variable::Value));
        }
        let planned = self.edits_of(index).find_map(|e| match e {
            Edit::Env { name: n, value, .. } if **n == *name => Some(Variable::Value(value)),
            _ => None,
        });
        planned.or_else(|| self.conf_variable(index, container, name))
    }

    /// A variable that NCCL takes from `/etc/nccl.conf`.
    fn conf_variable(self, index: usize, container: &Container<'_>, name: &str) -> Option<Variable<'a>> {
        self.conf(Some(index), container)?.value(name).map(Variable::Value)
    }

    /// The variables of the `/etc/nccl.conf` of a container, in the order of its lines. `app`: its number, if it is an app
    /// container.
    pub(crate) fn nccl_conf_lines(
        self,
        app: Option<usize>,
        container: &Container<'_>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.conf(app, container).into_iter().flat_map(ConfFile::lines)
    }

    /// The value that NCCL in a container takes for a variable from `/etc/nccl.conf`: a variable of its process takes
    /// precedence. `over_ssh`: sshd starts the ranks, so they do not have the container's variables.
    pub(crate) fn value_taken_from_nccl_conf(
        self,
        (app, container): (Option<usize>, &Container<'_>),
        name: &str,
        over_ssh: bool,
    ) -> Option<&'a str> {
        let planned = |e: &Edit| matches!(e, Edit::Env { name: n, .. } if **n == *name);
        let in_env = || {
            container.last_entry_of_variable(name).is_some()
                || app.is_some_and(|index| self.edits_of(index).any(planned))
        };
        if !nccl_conf_format::is_read_after_nccl_conf(name) || !over_ssh && in_env() {
            return None;
        }
        self.conf(app, container)?.value(name)
    }

    /// Variables that are planned for an app container, in `env` or in `/etc/nccl.conf`.
    pub(crate) fn planned_env_and_all_conf_lines(
        self,
        index: usize,
        container: &Container<'_>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.nccl_conf_lines(Some(index), container).chain(self.edits_of(index).filter_map(|e| match e {
            Edit::Env { name, value, .. } => Some((&**name, &**value)),
            _ => None,
        }))
    }

    /// The `/etc/nccl.conf` of a container.
    fn conf(self, app: Option<usize>, container: &Container<'_>) -> Option<&'a ConfFile> {
        let planned = |e: &Edit| matches!(e, Edit::FileMount { path, .. } if *path == NCCL_CONF_PATH);
        let will_have = app.is_some_and(|index| self.edits_of(index).any(planned));
        if !will_have && !nccl_conf_and_small_files::mounts_our_nccl_conf(self.pod, container) {
            return None;
        }
        let text = || {
            let planned = self.plan.changes_of_pod_itself().iter().find_map(|c| match &c.edit {
                Edit::File { name, text, .. } if name == NCCL_CONF => Some(text.as_str()),
                _ => None,
            });
            planned
                .or_else(|| nccl_conf_and_small_files::file_annotation_of_pod(self.pod, NCCL_CONF))
                .unwrap_or_default()
        };
        let none = ByVariable::new();
        let of_profiles = self.of_profiles.unwrap_or(&none);
        Some(self.plan.read_once.conf.get_or_init(|| ConfFile::read_with_limit(text(), of_profiles)))
    }
}

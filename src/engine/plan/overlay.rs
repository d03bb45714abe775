//! The final pod: the read model with a plan over it, without a second pod.

use super::{
    Edit, NCCL_CONF, NCCL_CONF_PATH, Plan, ResourceList, ULIMITS_ANNOTATION, files, nccl_conf, ulimits,
};
use crate::pod::view::{Container, PodView};

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
pub struct Overlay<'a> {
    pod: &'a PodView<'a>,
    plan: &'a Plan,
}

impl<'a> Overlay<'a> {
    /// Lays a plan over a pod.
    #[must_use]
    pub fn new(pod: &'a PodView<'a>, plan: &'a Plan) -> Self {
        Self { pod, plan }
    }

    /// The unpatched pod.
    #[must_use]
    pub fn pod(self) -> &'a PodView<'a> {
        self.pod
    }

    fn edits_of(self, container: usize) -> impl Iterator<Item = &'a Edit> {
        self.plan.of_container(container).iter().map(|c| &c.edit)
    }

    /// Units of a resource that an app container gets.
    #[must_use]
    pub fn units(self, index: usize, container: &Container<'_>, resource: &str) -> i64 {
        let planned = self.edits_of(index).find_map(|e| match e {
            Edit::Quantity { list: ResourceList::Limits, name, units, .. } if name == resource => {
                Some(*units)
            }
            _ => None,
        });
        planned.or_else(|| container.units(resource)).unwrap_or(0)
    }

    /// Volume that the plan mounts at `/dev/shm` of an app container.
    #[must_use]
    pub fn planned_shm(self, index: usize) -> Option<&'a str> {
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
    pub fn sets_memlock(self, container: &Container<'_>) -> bool {
        let planned = self.plan.of_pod().iter().any(|c| match &c.edit {
            Edit::Annotation { key, .. } => key.strip_prefix(ULIMITS_ANNOTATION) == Some(container.name()),
            _ => false,
        });
        planned || ulimits::is_set(self.pod, container)
    }

    /// Value of the networks annotation, if the plan changes it.
    #[must_use]
    pub fn planned_networks(self) -> Option<&'a str> {
        self.plan.of_pod().iter().find_map(|c| match &c.edit {
            Edit::Networks { value, .. } => Some(value.as_str()),
            _ => None,
        })
    }

    /// A variable of an app container.
    #[must_use]
    pub fn variable(self, index: usize, container: &'a Container<'a>, name: &str) -> Option<Variable<'a>> {
        if let Some((_, entry)) = container.env_var(name) {
            return Some(entry.literal().map_or(Variable::Unknown, Variable::Value));
        }
        let planned = self.edits_of(index).find_map(|e| match e {
            Edit::Env { name: n, value, .. } if n == name => Some(Variable::Value(value.as_str())),
            _ => None,
        });
        planned.or_else(|| self.conf_variable(index, container, name))
    }

    /// A variable that NCCL takes from `/etc/nccl.conf`.
    fn conf_variable(self, index: usize, container: &Container<'_>, name: &str) -> Option<Variable<'a>> {
        let text = self.conf(index, container)?;
        nccl_conf::variables(text).find(|(n, _)| *n == name).map(|(_, value)| Variable::Value(value))
    }

    /// Variables that are planned for an app container, in `env` or in `/etc/nccl.conf`.
    pub(crate) fn planned_variables(
        self,
        index: usize,
        container: &Container<'_>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let lines = self.conf(index, container).into_iter().flat_map(nccl_conf::variables);
        lines.chain(self.edits_of(index).filter_map(|e| match e {
            Edit::Env { name, value, .. } => Some((name.as_str(), value.as_str())),
            _ => None,
        }))
    }

    /// The `/etc/nccl.conf` of an app container.
    fn conf(self, index: usize, container: &Container<'_>) -> Option<&'a str> {
        let planned = |e: &Edit| matches!(e, Edit::FileMount { path, .. } if *path == NCCL_CONF_PATH);
        if !self.edits_of(index).any(planned) && !files::has_conf(self.pod, container) {
            return None;
        }
        let planned = self.plan.of_pod().iter().find_map(|c| match &c.edit {
            Edit::File { name, text, .. } if name == NCCL_CONF => Some(text.as_str()),
            _ => None,
        });
        planned.or_else(|| files::text(self.pod, NCCL_CONF))
    }
}

//! Who gets an answer, and what they may see (docs/adr/0021).

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Who gets an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user behind an API server that has shown its certificate. The API server has checked that the user may write
    /// the object.
    Tenant,
    /// Anyone who reaches the port. The object and its namespace may be invented.
    Anyone,
}

/// What is visible of the known facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum View {
    /// Everything: for operators, who may read the whole cluster.
    #[default]
    Whole,
    /// What a namespace may know.
    Of {
        /// The namespace.
        namespace: String,
        /// Who asks on its behalf.
        audience: Audience,
        /// What its profiles open to it.
        open: OpenToNamespace,
    },
    /// Nothing about the cluster.
    Nothing,
}

/// What a namespace may use, found once for all that a decision asks: a pod names thousands of networks, and an operator
/// has hundreds of profiles, each with a list of namespaces.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenToNamespace(Arc<OnceLock<ProfilesAndNamespacesOpen>>);

/// Names of profiles that admit a namespace, and of the namespaces of their rails.
#[derive(Debug, Default)]
pub(super) struct ProfilesAndNamespacesOpen {
    pub(super) profiles: HashSet<String>,
    pub(super) namespaces: HashSet<String>,
}

impl OpenToNamespace {
    /// What is open, from `find` the first time.
    pub(super) fn get(&self, find: impl FnOnce() -> ProfilesAndNamespacesOpen) -> &ProfilesAndNamespacesOpen {
        self.0.get_or_init(find)
    }
}

/// It follows from the namespace and the facts.
impl PartialEq for OpenToNamespace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for OpenToNamespace {}

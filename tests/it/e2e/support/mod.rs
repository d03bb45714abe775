//! The control plane, the site that is installed on it, and clients of its API.

pub(crate) mod api;
pub(crate) mod balancer;
pub(crate) mod creates;
pub(crate) mod engine;
pub(crate) mod fabrics;
pub(crate) mod plane;
pub(crate) mod policies;
pub(crate) mod site;
pub(crate) mod stored;
pub(crate) mod with_and_without_webhook;

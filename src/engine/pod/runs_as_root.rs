//! The user that a container's process runs as.

use super::pod_fields::{Container, PodView};

/// Whether a container is known to run as another user than root: by its own context, else the pod's. `None` if
/// neither sets a user; then the image decides.
#[must_use]
pub fn runs_as_root(pod: &PodView<'_>, container: &Container<'_>) -> Option<bool> {
    let own = container.security_context.as_ref();
    let whole = pod.security_context();
    let user = own.and_then(|s| s.run_as_user).or_else(|| whole.and_then(|s| s.run_as_user));
    if let Some(user) = user {
        return Some(user == 0);
    }
    let non_root = own.and_then(|s| s.run_as_non_root).or_else(|| whole.and_then(|s| s.run_as_non_root));
    (non_root == Some(true)).then_some(false)
}

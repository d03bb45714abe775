//! Checks of `bootstrap`, the interface of NCCL's bootstrap.

use crate::profile::checked_parts::Rail;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::Spec;

/// Checks that the pod will have the interface.
pub(in crate::profile) fn check(spec: &Spec, rails: &[Rail], fail: &Fail<'_>) -> Result<(), ProfileError> {
    if let Some(bootstrap) = &spec.bootstrap
        && bootstrap != "eth0"
        && rails.iter().all(|r| r.interface != *bootstrap)
    {
        let message = format!("{bootstrap:?} is neither eth0 nor the interface of a rail");
        return Err(fail("/spec/bootstrap", message));
    }
    Ok(())
}

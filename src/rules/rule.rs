//! The trait of all rules.

use super::cel::Cel;
use super::finding::Findings;
use super::meta::Meta;
use super::object::ObjectContext;
use super::pod::PodContext;
use super::workload::WorkloadContext;

/// A rule: what it is, and how it is checked.
pub trait Rule: Sync {
    /// Everything about the rule that does not depend on an object.
    fn meta(&self) -> &'static Meta;
    /// Checks a pod in scope, as it would be with the plan applied.
    fn pod(&self, _: &PodContext<'_>, _: &mut Findings<'_>) {}
    /// Checks what makes pods: its templates beside each other, and what it says of them.
    fn workload(&self, _: &WorkloadContext<'_>, _: &mut Findings<'_>) {}
    /// Checks an object of one of the kinds that [`Meta::kinds`] names.
    fn object(&self, _: &ObjectContext<'_>, _: &mut Findings<'_>) {}
    /// Checks such an object that is about to go.
    fn deletion(&self, _: &ObjectContext<'_>, _: &mut Findings<'_>) {}
    /// What of it the API server can judge by itself.
    fn cel(&self) -> Option<Cel> {
        None
    }
}

//! The lines about certificates for `/readyz`, as `round/is_certificate_ready.rs` left them.

use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
struct Inner {
    /// Reasons for not being ready; one line each.
    problems: Vec<String>,
    /// Remarks that do not affect readiness.
    remarks: Vec<String>,
}

/// Whether the API server would trust our certificate, as far as known; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct CertificateReadiness(Arc<Mutex<Inner>>);

impl CertificateReadiness {
    /// Not ready until the first check.
    pub(crate) fn waiting() -> Self {
        let standing = Self::default();
        standing
            .replace_problems_and_remarks(vec!["the server has no certificate yet".to_owned()], Vec::new());
        standing
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the lines. Returns whether they differ from before.
    pub(crate) fn replace_problems_and_remarks(&self, problems: Vec<String>, remarks: Vec<String>) -> bool {
        self.with(|inner| {
            let differs = inner.problems != problems || inner.remarks != remarks;
            (inner.problems, inner.remarks) = (problems, remarks);
            differs
        })
    }

    /// Lines for `/readyz`: problems, and remarks.
    pub(crate) fn problems_and_remarks(&self) -> (Vec<String>, Vec<String>) {
        self.with(|inner| (inner.problems.clone(), inner.remarks.clone()))
    }
}

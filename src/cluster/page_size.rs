//! How many objects one page of a list asks for, by the bytes of the page before.

/// Pages of about a number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    /// Bytes of a page, about.
    pub bytes: usize,
    /// Most objects of a page.
    pub most: usize,
}

impl PageSize {
    /// Objects of the first page; later ones are as large as the objects allow.
    pub(super) const FIRST: usize = 25;
    /// Since Kubernetes 1.34 a list takes a seat of the API server's flow control for each 100 kB of its answer
    /// (k8s.io/apiserver pkg/util/flowcontrol/request/list_work_estimator.go).
    pub const DEFAULT: Self = Self { bytes: 1_000_000, most: 500 };

    /// The size of the next page, after one of so many bytes and objects.
    pub(super) fn next(self, bytes: usize, objects: usize) -> Option<usize> {
        let each = bytes.checked_div(objects)?;
        Some(self.bytes.checked_div(each).unwrap_or(self.most).clamp(1, self.most.max(1)))
    }
}

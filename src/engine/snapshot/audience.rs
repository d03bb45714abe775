//! Who gets an answer, and what they may see (docs/adr/0021).

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
    },
    /// Nothing about the cluster.
    Nothing,
}

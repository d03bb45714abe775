//! The leaf, which is the serving certificate of one replica: its CA and its dates.

/// The leaf in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The CA that signed it (PEM).
    pub issuer: String,
    /// First second of its validity.
    pub from: i64,
    /// When it was signed.
    pub signed: i64,
    /// Last second of its validity.
    pub until: i64,
    /// When the next is due.
    pub renewal: i64,
}

impl Leaf {
    /// When nine tenths of its life are over: the renewal is overdue.
    #[must_use]
    pub fn last_tenth(&self) -> i64 {
        self.until - (self.until - self.signed) / 10
    }
}

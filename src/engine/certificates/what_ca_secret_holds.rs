//! The content of the Secret: which CA signs, which is next, which are still trusted, and since when.

use super::ca_certificate::Authority;
use super::lifetimes::Lifetimes;
use std::fmt;

/// A private key in PEM. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A CA that can sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// Its certificate.
    pub authority: Authority,
    /// Its key.
    pub key: Key,
}

/// The content of the Secret. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The CA that signs, or why there is none.
    pub current: Result<Signer, String>,
    /// The CA that will sign, or why it cannot.
    pub next: Option<Result<Signer, String>>,
    /// CAs of leaves that may still be in use.
    pub previous: Vec<Authority>,
    /// How often a CA became current.
    pub generation: u64,
    /// Since when `next` is in every caBundle.
    pub soaking_since: Option<i64>,
    /// When `current` became the current CA.
    pub switched_at: Option<i64>,
    /// Whether an operator requests another CA.
    pub rotate: bool,
}

impl Record {
    /// Every CA that is to be trusted, the one that signs first.
    #[must_use]
    pub fn trusted(&self) -> Vec<&Authority> {
        let current = self.current.iter().map(|signer| &signer.authority);
        let next = self.next.iter().flatten().map(|signer| &signer.authority);
        current.chain(next).chain(&self.previous).collect()
    }

    /// The caBundle: every trusted CA, in a fixed order and form, so that equal content is equal text.
    #[must_use]
    pub fn bundle(&self) -> String {
        self.trusted().iter().map(|authority| authority.pem.as_str()).collect()
    }

    /// The current CA, if it can sign now.
    pub fn signer_valid_at(&self, now: i64) -> Result<&Signer, String> {
        let signer = self.current.as_ref().map_err(Clone::clone)?;
        if now >= signer.authority.until {
            return Err("has expired".to_owned());
        }
        // Validity begins earlier than any tolerated skew: this clock is wrong, or that of the issuer was.
        if now < signer.authority.from {
            return Err("is not valid yet: the clock of this or another machine is wrong".to_owned());
        }
        Ok(signer)
    }

    /// The next CA, where it could sign now.
    #[must_use]
    pub fn next_signer(&self, now: i64) -> Option<&Signer> {
        let next = self.next.as_ref()?.as_ref().ok()?;
        next.authority.is_valid_at(now).then_some(next)
    }

    /// How old a mark is by a clock that may differ from the one that set it. One of the far future has no age.
    #[must_use]
    pub fn age(mark: i64, now: i64, lives: &Lifetimes) -> Option<i64> {
        let age = now - mark;
        (age >= -2 * lives.skew).then_some(age)
    }
}

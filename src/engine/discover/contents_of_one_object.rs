//! Several contents of one object.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Write};

/// What an object with two contents is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// These nodes.
    Nodes(BTreeSet<String>),
    /// Networks of Multus and resources of device plugins.
    Attached,
    /// Networks of GKE.
    Gke,
    /// No fabric.
    Nothing,
}

/// The first object with two contents, by what it is about. A group names only one.
#[derive(Debug, Default)]
pub(super) struct Twice {
    pub(super) of_nodes: BTreeMap<String, String>,
    pub(super) attached: Option<String>,
    pub(super) gke: Option<String>,
}

impl Twice {
    pub(super) fn new(twice: &BTreeMap<String, About>) -> Self {
        let mut found = Self::default();
        for (object, about) in twice {
            let first = match about {
                About::Nodes(names) => {
                    for name in names {
                        found.of_nodes.entry(name.clone()).or_insert_with(|| object.clone());
                    }
                    continue;
                }
                About::Attached => &mut found.attached,
                About::Gke => &mut found.gke,
                About::Nothing => continue,
            };
            first.get_or_insert_with(|| object.clone());
        }
        found
    }
}

/// Keeps one of several contents, the same one in every order. Whether they differ.
pub(super) fn keep_one_of_differing<K: Ord, T: PartialEq + Debug>(
    map: &mut BTreeMap<K, T>,
    key: K,
    value: T,
) -> bool {
    let Some(known) = map.get_mut(&key) else {
        map.insert(key, value);
        return false;
    };
    let differs = *known != value;
    if differs && is_written_before(&value, known) {
        *known = value;
    }
    differs
}

/// Whether the text of a value is before that of another one. The other one may be long, and be compared with thousands, so its text
/// ends at the first difference.
fn is_written_before<T: Debug>(value: &T, other: &T) -> bool {
    let text = format!("{value:?}");
    let mut rest = TextToCompare { rest: text.as_bytes(), order: Ordering::Equal };
    // An error ends it at the first difference. If all that is written is the start of the text, the text is longer.
    let _ = write!(rest, "{other:?}");
    rest.order.is_lt()
}

/// A text that is compared with what is written.
struct TextToCompare<'t> {
    rest: &'t [u8],
    /// The order of the text and of what is written, as far as they are compared.
    order: Ordering,
}

impl Write for TextToCompare<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let length = part.len().min(self.rest.len());
        let (own, rest) = self.rest.split_at(length);
        let (written, more) = part.as_bytes().split_at(length);
        self.rest = rest;
        self.order = own.cmp(written);
        if self.order.is_eq() && !more.is_empty() {
            self.order = Ordering::Less;
        }
        if self.order.is_eq() { Ok(()) } else { Err(fmt::Error) }
    }
}

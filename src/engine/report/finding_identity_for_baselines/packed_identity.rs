//! Identities of many findings in little memory: one text each, in place of seven. A run over 100,000 files may have as
//! many findings in its baseline.

use super::rule_object_and_path::{FindingIdentity, ObjectName};

/// The identity of a finding or of an object. Packed identities have the order of the identities themselves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedIdentity(Box<str>);

/// Before the text of a field, so that an empty text is not an absent one.
const PRESENT: char = '\u{2}';

impl PackedIdentity {
    /// The identity of an object.
    #[must_use]
    pub fn object(object: &ObjectName) -> Self {
        Self::of(&of_object(object))
    }

    /// The identity of a finding.
    #[must_use]
    pub fn finding(finding: &FindingIdentity) -> Self {
        let [namespace, api_version, kind, name, generate_name] = of_object(&finding.object);
        let (rule, path) = (Some(finding.rule.as_str()), Some(finding.path.as_str()));
        Self::of(&[rule, namespace, api_version, kind, name, generate_name, path])
    }

    /// The finding.
    #[must_use]
    pub fn unpack(&self) -> FindingIdentity {
        let mut fields = self.0.split('\0').map(|field| field.strip_prefix(PRESENT).map(plain));
        let mut next = || fields.next().flatten();
        let rule = next().unwrap_or_default();
        let object = ObjectName {
            namespace: next(),
            api_version: next().unwrap_or_default(),
            kind: next().unwrap_or_default(),
            name: next(),
            generate_name: next(),
        };
        FindingIdentity { rule, object, path: next().unwrap_or_default() }
    }

    fn of(fields: &[Option<&str>]) -> Self {
        let mut packed = String::new();
        for (number, field) in fields.iter().enumerate() {
            if number > 0 {
                packed.push('\0');
            }
            let Some(text) = field else { continue };
            packed.push(PRESENT);
            for c in text.chars() {
                match c {
                    '\0' => packed.push_str("\u{1}\u{1}"),
                    '\u{1}' => packed.push_str("\u{1}\u{2}"),
                    c => packed.push(c),
                }
            }
        }
        Self(packed.into_boxed_str())
    }
}

fn of_object(object: &ObjectName) -> [Option<&str>; 5] {
    let ObjectName { namespace, api_version, kind, name, generate_name } = object;
    [namespace.as_deref(), Some(api_version), Some(kind), name.as_deref(), generate_name.as_deref()]
}

/// The text of a field.
fn plain(packed: &str) -> String {
    packed.replace("\u{1}\u{1}", "\0").replace("\u{1}\u{2}", "\u{1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_keep_their_fields_and_their_order() {
        let texts = ["", "a", "a\0", "a\0\u{1}", "a\u{1}", "a\u{1}\u{2}", "a\u{2}", "ab", "b/ü"];
        let mut all = Vec::new();
        for rule in ["FAB101", "FAB501"] {
            for one in texts {
                for other in [None, Some("".to_owned()), Some(one.to_owned())] {
                    let object = ObjectName {
                        namespace: other.clone(),
                        api_version: one.to_owned(),
                        kind: "Pod".to_owned(),
                        name: other,
                        generate_name: None,
                    };
                    all.push(FindingIdentity { rule: rule.to_owned(), object, path: one.to_owned() });
                }
            }
        }
        for one in &all {
            assert_eq!(PackedIdentity::finding(one).unpack(), *one);
            for other in &all {
                assert_eq!(
                    one.cmp(other),
                    PackedIdentity::finding(one).cmp(&PackedIdentity::finding(other)),
                    "{one:?} {other:?}"
                );
                let (object, same) =
                    (PackedIdentity::object(&one.object), PackedIdentity::object(&other.object));
                assert_eq!(one.object == other.object, object == same);
            }
        }
    }
}

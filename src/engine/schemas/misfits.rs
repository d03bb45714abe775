//! Values that a table does not accept.

use super::table::{Field, Takes};
use crate::text::json_pointer_token;
use serde_json::{Map, Number, Value};

/// What is wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MisfitKind {
    /// The mapping has no such key.
    Unknown,
    /// Its type.
    Type,
    /// A number below the least or above the greatest.
    Range,
    /// A text that is not in the list.
    Word,
    /// A text of another form.
    Form,
}

/// A value that is not accepted.
#[derive(Debug)]
pub struct Misfit<'t, 'v> {
    /// JSON pointer of the value.
    pub pointer: String,
    /// Its key; for an item of a list, the key of the list.
    pub key: &'v str,
    /// The value.
    pub value: &'v Value,
    /// The field; for an unknown key, the mapping.
    pub field: &'t Field,
    /// What is wrong.
    pub fault: MisfitKind,
}

/// Who reads a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The API server: 1.0 is a whole number.
    ApiServer,
    /// Go's `encoding/json` into a struct: 1.0 is not a whole number, and unknown keys are common.
    Go,
}

/// The values of a mapping that are not accepted, with their pointers below it; `limit` of them at most. A null stands
/// for a missing value: kubectl and Go's decoder drop it.
#[must_use]
pub fn misfits<'t, 'v>(
    field: &'t Field,
    mapping: &'v Map<String, Value>,
    reader: Reader,
    limit: usize,
) -> Vec<Misfit<'t, 'v>> {
    let mut walk = Walk { reader, limit, at: String::new(), found: Vec::new() };
    walk.collect_misfits_of_mapping(field, mapping);
    walk.found
}

struct Walk<'t, 'v> {
    reader: Reader,
    limit: usize,
    at: String,
    found: Vec<Misfit<'t, 'v>>,
}

impl<'t, 'v> Walk<'t, 'v> {
    fn collect_misfits_of_value(&mut self, field: &'t Field, key: &'v str, value: &'v Value) {
        if self.found.len() >= self.limit {
            return;
        }
        let fault = match (field.takes, value) {
            (_, Value::Null) | (Takes::Any, _) | (Takes::Truth, Value::Bool(_)) => None,
            (Takes::Number, Value::Number(_)) => None,
            (Takes::Text | Takes::WholeOrText, Value::String(text)) => text_fault(field, text),
            (Takes::Whole | Takes::WholeOrText, Value::Number(number)) => self.whole_fault(field, number),
            (Takes::List, Value::Array(items)) => {
                let Some(item) = field.item() else { return };
                for (index, value) in items.iter().enumerate() {
                    self.walk_below_key(&index.to_string(), |walk| {
                        walk.collect_misfits_of_value(item, key, value)
                    });
                }
                return;
            }
            (Takes::Map, Value::Object(map)) => {
                let Some(item) = field.item() else { return };
                for (key, value) in map {
                    self.walk_below_key(&json_pointer_token(key), |walk| {
                        walk.collect_misfits_of_value(item, key, value)
                    });
                }
                return;
            }
            (Takes::Object, Value::Object(map)) => return self.collect_misfits_of_mapping(field, map),
            _ => Some(MisfitKind::Type),
        };
        if let Some(fault) = fault {
            self.push_misfit(field, key, value, fault);
        }
    }

    fn collect_misfits_of_mapping(&mut self, field: &'t Field, map: &'v Map<String, Value>) {
        let named = field.keys().next().is_some();
        for (key, value) in map {
            self.walk_below_key(&json_pointer_token(key), |walk| match field.field(key) {
                Some(known) => walk.collect_misfits_of_value(known, key, value),
                None if named && !field.open => walk.push_misfit(field, key, value, MisfitKind::Unknown),
                None => {}
            });
        }
    }

    fn walk_below_key(&mut self, token: &str, walk: impl FnOnce(&mut Self)) {
        let length = self.at.len();
        self.at.push('/');
        self.at.push_str(token);
        walk(self);
        self.at.truncate(length);
    }

    fn push_misfit(&mut self, field: &'t Field, key: &'v str, value: &'v Value, fault: MisfitKind) {
        let unread = fault == MisfitKind::Unknown && self.reader == Reader::Go;
        if self.found.len() < self.limit && !unread {
            self.found.push(Misfit { pointer: self.at.clone(), key, value, field, fault });
        }
    }

    fn whole_fault(&self, field: &Field, number: &Number) -> Option<MisfitKind> {
        let fraction = number.as_f64().is_none_or(|n| n.fract() != 0.0);
        if number.is_f64() && (fraction || self.reader == Reader::Go) {
            return Some(MisfitKind::Type);
        }
        // A number beyond 64 bits is beyond every limit.
        let number = number.as_i64().unwrap_or(i64::MAX);
        let outside = field.least.is_some_and(|n| number < n) || field.most.is_some_and(|n| number > n);
        outside.then_some(MisfitKind::Range)
    }
}

fn text_fault(field: &Field, text: &str) -> Option<MisfitKind> {
    let same = |word: &&str| if field.any_case { word.eq_ignore_ascii_case(text) } else { *word == text };
    if !field.words.is_empty() && !field.words.iter().any(same) {
        return Some(MisfitKind::Word);
    }
    field.pattern.is_some_and(|pattern| !pattern.does_text_fit(text)).then_some(MisfitKind::Form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemas::{fields_of_plugin, schema_of_crd};
    use serde_json::json;

    fn policy(spec: &Value) -> Vec<(String, MisfitKind)> {
        let object = json!({"apiVersion": "v1", "metadata": {"name": 1}, "spec": spec});
        let schema = schema_of_crd("sriovnetwork.openshift.io", "SriovNetworkNodePolicy").unwrap();
        let found = misfits(&schema.whole, object.as_object().unwrap(), Reader::ApiServer, 50);
        found.into_iter().map(|m| (m.pointer, m.fault)).collect()
    }

    #[test]
    fn values_that_the_api_server_refuses() {
        let fine = json!({"numVfs": 8, "mtu": 9000.0, "priority": null, "isRdma": true, "linkType": "IB",
            "nicSelector": {"pfNames": ["a"]}, "nodeSelector": {"x/y": "z"}, "bridge": {}});
        assert_eq!(policy(&fine), []);
        let wrong = json!({"bridge": [], "isRdma": "true", "linkType": "ethernet", "mtu": 0,
            "nicSelector": {"pfName": "x", "pfNames": ["a", 1]}, "nodeSelector": {"x/y": true}, "numVfs": "8",
            "priority": 100});
        assert_eq!(
            policy(&wrong),
            [
                ("/spec/bridge", MisfitKind::Type),
                ("/spec/isRdma", MisfitKind::Type),
                ("/spec/linkType", MisfitKind::Word),
                ("/spec/mtu", MisfitKind::Range),
                ("/spec/nicSelector/pfName", MisfitKind::Unknown),
                ("/spec/nicSelector/pfNames/1", MisfitKind::Type),
                ("/spec/nodeSelector/x~1y", MisfitKind::Type),
                ("/spec/numVfs", MisfitKind::Type),
                ("/spec/priority", MisfitKind::Range),
            ]
            .map(|(pointer, fault)| (pointer.to_owned(), fault))
        );
        assert_eq!(policy(&json!({"numVfs": 1.5})), [("/spec/numVfs".to_owned(), MisfitKind::Type)]);
        assert_eq!(
            policy(&json!({"priority": u64::MAX})),
            [("/spec/priority".to_owned(), MisfitKind::Range)]
        );
        assert_eq!(policy(&json!("text")), [("/spec".to_owned(), MisfitKind::Type)]);
    }

    #[test]
    fn values_that_go_refuses() {
        let sriov = fields_of_plugin("cni", "sriov").unwrap();
        let found = |value: &Value| {
            let found = misfits(sriov, value.as_object().unwrap(), Reader::Go, 50);
            found.into_iter().map(|m| m.pointer).collect::<Vec<_>>()
        };
        assert!(found(&json!({"vlan": 0, "vlanProto": "802.1AD", "link_state": "", "other": 1})).is_empty());
        let wrong = json!({"link_state": "up", "spoofchk": true, "vlan": 1.0, "vlanProto": ""});
        assert_eq!(found(&wrong), ["/link_state", "/spoofchk", "/vlan", "/vlanProto"]);
    }

    #[test]
    fn no_more_than_asked() {
        let many = json!({"spec": {"nicSelector": {"pfNames": vec![1; 1000]}}});
        let schema = schema_of_crd("sriovnetwork.openshift.io", "SriovNetworkNodePolicy").unwrap();
        assert_eq!(misfits(&schema.whole, many.as_object().unwrap(), Reader::ApiServer, 7).len(), 7);
    }
}

//! The CustomResourceDefinition of FabricProfile, from the type: what the derive makes, and what the API server can
//! check before a profile is stored.
//!
//! The bounds of single values stand beside the fields, in [`crate::profile::schema`]. Here stand the checks that need more
//! than one value or a negation, in CEL. Each has its counterpart in `Profile::resolve`, which decides: it
//! also reads files, and has the bases and their rails.

use super::schema;
use serde_json::{Map, Value, json};

/// One rule of the API server's.
struct CelRule {
    /// Schema it belongs to, below `spec`; `*` stands for the items of a list.
    at: &'static str,
    /// CEL; `self` is the value at `at`.
    rule: &'static str,
    /// The problem and the expected value.
    message: &'static str,
    /// The field that the message names, below `at`.
    field: Option<&'static str>,
}

/// Every rule, in the order of the schema. Their estimated cost is bounded by the sizes in [`crate::profile::schema`].
const CEL_RULES: &[CelRule] = &[
    CelRule {
        at: "",
        rule: "has(self.base) || has(self.transport)",
        message: "set transport or base",
        field: Some(".transport"),
    },
    CelRule {
        at: "",
        rule: "has(self.base) || has(self.attachment)",
        message: "set attachment or base",
        field: Some(".attachment"),
    },
    CelRule {
        at: "",
        rule: "!has(self.rails) || !has(self.resources) || \
               self.resources.all(r, !self.rails.exists(l, has(l.resource) && l.resource == r.name))",
        message: "a rail already requests this resource; remove it from resources",
        field: Some(".resources"),
    },
    CelRule {
        at: "",
        rule: "!has(self.memlock) || !has(self.ipcLock)",
        message: "memlock and ipcLock exclude each other; remove one",
        field: Some(".memlock"),
    },
    CelRule {
        at: "",
        rule: "!has(self.gkeNetworks) || !has(self.rails) || self.rails.size() == 0",
        message: "GKE attaches its networks by its own annotations; remove rails or gkeNetworks",
        field: Some(".gkeNetworks"),
    },
    CelRule {
        at: "",
        rule: "!has(self.attachment) || self.attachment != 'host-network' || !has(self.rails) || self.rails.size() == 0",
        message: "attachment host-network attaches no networks; set rails: []",
        field: Some(".rails"),
    },
    CelRule {
        at: "",
        rule: "!has(self.preflight) && !has(self.monitor) || !has(self.inject) || self.inject == 'full'",
        message: "the webhook adds containers only with inject: full; remove preflight and monitor",
        field: Some(".inject"),
    },
    CelRule {
        at: "preflight/checks",
        rule: "self.all(id, id.matches('^PF[0-9]{3}$'))",
        message: "expected ids of checks, PF and three digits, such as PF101",
        field: None,
    },
    CelRule {
        at: "monitor/resources/cpu",
        rule: "isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))",
        message: "expected a CPU quantity, such as 20m",
        field: None,
    },
    CelRule {
        at: "monitor/resources/memory",
        rule: "isQuantity(self) && quantity(self).compareTo(quantity('32Mi')) >= 0",
        message: "expected a size of at least 32Mi, such as 64Mi",
        field: None,
    },
    CelRule {
        at: "monitor/resources/ephemeralStorage",
        rule: "isQuantity(self) && quantity(self).compareTo(quantity('1Mi')) >= 0",
        message: "expected a size of at least 1Mi, such as 16Mi",
        field: None,
    },
    CelRule {
        at: "gkeNetworks",
        rule: "self.interfaces.exists(i, i.interfaceName == self.defaultInterface)",
        message: "defaultInterface is not one of the interfaces",
        field: Some(".defaultInterface"),
    },
    CelRule { at: "nodeSelector/matchExpressions", rule: FEW_VALUES, message: VALUES, field: None },
    CelRule { at: "namespaces/matchExpressions", rule: FEW_VALUES, message: VALUES, field: None },
    CelRule { at: "when/podSelector/matchExpressions", rule: FEW_VALUES, message: VALUES, field: None },
    CelRule {
        at: "rails",
        rule: "self.map(r, has(r.count) ? r.count : 1).sum() <= 64",
        message: "expected at most 64 rails in total, counts included",
        field: None,
    },
    CelRule {
        at: "rails",
        rule: "self.all(r, !has(r.interface) || \
               self.exists_one(o, has(o.interface) && o.interface == r.interface))",
        message: "two rails have the same interface",
        field: None,
    },
    CelRule {
        at: "rails/*",
        rule: "!has(self.count) || self.count == 1 || !has(self.interface) || self.interface.matches('[0-9]$')",
        message: "with a count above 1 the interface must end in a digit, which rises by 1 per attachment",
        field: Some(".interface"),
    },
    CelRule { at: "rails/*/resource", rule: NO_KUBERNETES_DOMAIN, message: EXTENDED, field: None },
    CelRule {
        at: "rails/*/interface",
        rule: "!(self in ['lo', '.', '..']) && !self.matches('^(eth|net)[0-9]+$')",
        message: "the name is reserved: the cluster network and Multus assign ethN and netN by position; use railN",
        field: None,
    },
    CelRule { at: "resources/*/name", rule: NO_KUBERNETES_DOMAIN, message: EXTENDED, field: None },
    CelRule {
        at: "env/*",
        rule: "has(self.value) != (has(self.policy) && self.policy == 'forbid')",
        message: "set a value; with policy forbid, remove the value",
        field: Some(".value"),
    },
    CelRule {
        at: "env/*/name",
        rule: "!self.startsWith('LD_') && \
               !(self in ['PATH', 'HOME', 'PYTHONPATH', 'BASH_ENV', 'ENV', 'IFS', 'SHELL'])",
        message: "a profile may not set this variable",
        field: None,
    },
    CelRule {
        at: "env/*/value",
        rule: "!self.contains('$(') && !self.matches('\\\\p{Cc}')",
        message: "expected at most 4096 printable characters without $(",
        field: None,
    },
    CelRule {
        at: "files/*/name",
        rule: "self != 'nccl.conf'",
        message: "the lines of nccl.conf come from env; for images with their own file set ncclConf: image",
        field: None,
    },
    CelRule {
        at: "sharedMemory/perAccelerator",
        rule: "isQuantity(self) && quantity(self).compareTo(quantity('64Mi')) >= 0",
        message: "expected a size of at least 64Mi, such as 8Gi",
        field: None,
    },
];

/// `domain/name` has one slash, so that the domain ends where it stands.
const NO_KUBERNETES_DOMAIN: &str = "!self.contains('kubernetes.io/')";
const EXTENDED: &str = "not an extended resource: the domain kubernetes.io is reserved for Kubernetes";

/// The limit of the profile's reader.
const FEW_VALUES: &str = "self.map(e, has(e.values) ? size(e.values) : 0).sum() <= 1024";
const VALUES: &str = "expected at most 1024 values in all expressions";

/// How lists and maps merge under server-side apply (`x-kubernetes-list-type` and its keys). A list of type map is
/// also refused when a key is there twice.
const LIST_MERGE_STRATEGIES: &[(&str, &str, Option<&str>)] = &[
    ("instanceTypes", "set", None),
    // The order of the rails is the order of the attachments.
    ("rails", "atomic", None),
    ("subsets", "map", Some("name")),
    ("resources", "map", Some("name")),
    ("env", "map", Some("name")),
    ("files", "map", Some("name")),
    ("gkeNetworks/interfaces", "map", Some("interfaceName")),
];

/// The definition, ready for `kubectl apply`.
///
/// # Errors
/// Never for the types of this crate; a schema that lacks a field named here, or does not serialise, is an error.
pub fn custom_resource_definition() -> Result<Value, String> {
    let mut crd = serde_json::to_value(schema::derived_crd()).map_err(|e| e.to_string())?;
    let schema =
        crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema").ok_or("the definition has no schema")?;
    fit_schema_to_api_server(schema);
    let spec = schema.pointer_mut("/properties/spec").ok_or("the schema has no spec")?;
    for check in CEL_RULES {
        let mut rule = json!({"rule": check.rule, "message": check.message});
        if let (Some(rule), Some(field)) = (rule.as_object_mut(), check.field) {
            rule.insert("fieldPath".into(), field.into());
        }
        let at = schema_of_field(spec, check.at)?;
        match at.entry("x-kubernetes-validations").or_insert_with(|| json!([])) {
            Value::Array(rules) => rules.push(rule),
            _ => return Err(format!("{}: the rules are not a list", check.at)),
        }
    }
    for (at, merge, key) in LIST_MERGE_STRATEGIES {
        let at = schema_of_field(spec, at)?;
        at.insert("x-kubernetes-list-type".into(), (*merge).into());
        if let Some(key) = key {
            at.insert("x-kubernetes-list-map-keys".into(), json!([key]));
        }
    }
    for selector in ["nodeSelector", "namespaces", "when/podSelector"] {
        schema_of_field(spec, selector)?.insert("x-kubernetes-map-type".into(), "atomic".into());
    }
    Ok(crd)
}

/// The schema of a field below `spec`.
fn schema_of_field<'a>(spec: &'a mut Value, at: &str) -> Result<&'a mut Map<String, Value>, String> {
    let steps = at.split('/').filter(|step| !step.is_empty());
    let pointer: String =
        steps.map(|s| if s == "*" { "/items".into() } else { format!("/properties/{s}") }).collect();
    let found = spec.pointer_mut(&pointer).and_then(Value::as_object_mut);
    found.ok_or_else(|| format!("the schema has no {at:?}"))
}

/// Fits the schema to what the API server and `kubectl explain` make of it.
fn fit_schema_to_api_server(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // A null that is kept counts as present in CEL. The API server drops it where the field is not nullable, and
            // it is absent, as it is in a file.
            object.remove("nullable");
            // The name of the Rust type.
            if object.get("title").is_some_and(Value::is_string) {
                object.remove("title");
            }
            // The API server knows int32 and int64 only, and warns of others; the bounds say what matters.
            if object.get("format").is_some_and(|f| f.as_str().is_some_and(|f| f.starts_with("uint"))) {
                object.remove("format");
            }
            for bound in ["minimum", "maximum"] {
                let Some(value) = object.get_mut(bound) else { continue };
                if let Some(whole) = value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e15) {
                    *value = json!(whole as i64);
                }
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                // kubectl keeps the line breaks of our source and adds its own.
                *text = text.replace("\n\n", "\u{0}").replace('\n', " ").replace('\u{0}', "\n\n");
            }
            object.values_mut().for_each(fit_schema_to_api_server);
        }
        Value::Array(items) => items.iter_mut().for_each(fit_schema_to_api_server),
        _ => {}
    }
}

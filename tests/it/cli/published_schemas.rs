//! The published schemas, and whether real output fits them.

use crate::engine::golden::{Case, cases};
use crate::support::round_trip::review;
use crate::support::suite::Suite;
use crate::support::{golden, names, read, root};
use fabric_admission::discover::printed_result as discover;
use fabric_admission::doctor::doctor_report as doctor;
use fabric_admission::report::audit::json as audit;
use fabric_admission::report::baseline_file_format::Baseline;
use fabric_admission::report::profile_list;
use fabric_admission::report::review_json::ReviewDocument;
use fabric_admission::report::verify_log::json as verify_log;
use fabric_admission::report::why::json as why;
use serde_json::Value;
use std::path::PathBuf;

/// Keys that the contract names, by the definition of the schema they belong to (docs/design.md, section 6). More may be
/// added; none of these may go or be left out.
const CONTRACT: &[(&str, &[&str])] = &[
    ("", &["schema", "summary", "results", "skipped", "errors"]),
    ("Summary", &["documents", "results", "skipped", "errors", "denied", "warned", "mutated"]),
    (
        "ResultEntry",
        &[
            "source",
            "apiVersion",
            "kind",
            "namespace",
            "name",
            "generateName",
            "template",
            "profile",
            "optedIn",
            "mode",
            "verdict",
            "wouldDeny",
            "patch",
            "changes",
            "findings",
        ],
    ),
    ("Source", &["file", "document", "line", "pointer"]),
    ("PatchEntry", &["op", "path", "value"]),
    ("ChangeEntry", &["path", "carrier", "reason"]),
    ("FindingEntry", &["rule", "severity", "path", "message", "fix", "line", "column"]),
    ("Skipped", &["source", "reason"]),
    ("Unread", &["file", "line", "column", "message"]),
];

/// Keys whose value may be null.
const NULLABLE: &[&str] =
    &["namespace", "name", "generateName", "template", "profile", "evidence", "baseline", "finding"];

/// Heads a file that `just docs` writes.
const GENERATED: &str = "# Generated from src/engine/profile by `just docs`; a test keeps it current.\n";

fn path(name: &str) -> PathBuf {
    root().join("docs/schema").join(name)
}

fn text(schema: &schemars::Schema) -> Result<String, String> {
    serde_json::to_string_pretty(schema).map(|t| t + "\n").map_err(|e| e.to_string())
}

pub(crate) fn add(suite: &mut Suite) {
    suite.add("published_schemas::review_is_current", || {
        // As it is written: every key is there, null or not.
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<ReviewDocument<'static>>();
        Ok(golden(&path("review-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::why_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<why::Report<'static>>();
        Ok(golden(&path("why-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::doctor_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<doctor::Report>();
        Ok(golden(&path("doctor-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::doctor_fits", || {
        let facts = crate::cli::doctor::facts(&crate::cli::doctor::healthy()?)?;
        for before in [false, true] {
            let report = serde_json::to_value(doctor::Report::run_checks(&facts, before))
                .map_err(|e| e.to_string())?;
            validate_doctor(&report)?;
        }
        Ok(())
    });
    suite.add("published_schemas::preflight_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings
            .into_generator()
            .into_root_schema_for::<fabric_admission::preflight::preflight_report::Report>();
        Ok(golden(&path("preflight-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::audit_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<audit::AuditDocument>();
        Ok(golden(&path("audit-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::discover_is_current", || {
        let made = || schemars::generate::SchemaSettings::default().for_serialize().into_generator();
        let schema = made().into_root_schema_for::<discover::Report>();
        golden(&path("discover-v1.json"), Some(&text(&schema)?))?;
        let schema = made().into_root_schema_for::<discover::DiffReport>();
        Ok(golden(&path("discover-diff-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::profiles_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<profile_list::ProfileListReport>();
        Ok(golden(&path("profiles-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::verify_log_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema =
            settings.into_generator().into_root_schema_for::<verify_log::VerifyLogDocument<'static>>();
        Ok(golden(&path("verify-log-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::baseline_is_current", || {
        let settings = schemars::generate::SchemaSettings::default().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Baseline>();
        Ok(golden(&path("baseline-v1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::fabricprofile_is_current", || {
        let schema = schemars::schema_for!(fabric_admission::profile::FabricProfile);
        Ok(golden(&path("fabricprofile-v1alpha1.json"), Some(&text(&schema)?))?)
    });
    suite.add("published_schemas::crd_is_current", || {
        let crd = fabric_admission::profile::custom_resource_definition()?;
        let text = format!("{GENERATED}{}", fabric_admission::manifest::to_yaml(&crd));
        golden(&root().join("deploy/crds/fabricprofiles.yaml"), Some(&text))?;
        // `doctor` compares the CRD of a cluster with this one.
        Ok(golden(&root().join("src/engine/doctor/definition.json"), Some(&format!("{crd}\n")))?)
    });
    suite.add("published_schemas::profiles_page_is_current", || {
        let schema = schemars::schema_for!(fabric_admission::profile::FabricProfile);
        let page = fabric_admission::report::docs_page_of_profiles::page(
            crate::support::generated_world::bases(),
            schema.as_value(),
        );
        Ok(golden(&root().join("docs/profiles.md"), Some(&page))?)
    });
    suite.add("published_schemas::review_keeps_the_contract", || Ok(contract()?));
    for name in names(&cases()) {
        suite.add(format!("published_schemas::fits::{name}"), move || {
            let directory = cases().join(name);
            let case = Case::load(&directory)?;
            let review = review(&[case.args, vec![case.input]].concat(), b"", &directory)?;
            Ok(fits(&review.json)?)
        });
    }
    for (name, text) in [
        ("broken", "a: [\n"),
        ("skipped", "apiVersion: v1\nkind: ConfigMap\n"),
        (
            "nameless",
            "kind: Pod\nspec: {containers: [{image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}\n",
        ),
        ("empty", ""),
    ] {
        suite.add(format!("published_schemas::fits::stdin_{name}"), move || {
            Ok(fits(&review(&["-".to_owned()], text.as_bytes(), root())?.json)?)
        });
    }
    for name in names(&root().join("policies")) {
        suite.add(format!("published_schemas::policy_fits::{name}"), move || {
            let text = read(&root().join("policies").join(&name))?;
            let schema = schemars::schema_for!(fabric_admission::profile::FabricProfile);
            let schema = serde_json::to_value(&schema).map_err(|e| e.to_string())?;
            for (_, document) in crate::support::round_trip::documents(text.as_bytes()) {
                validate(&document, &schema, &schema, "")?;
            }
            Ok(())
        });
    }
}

fn review_schema() -> Result<Value, String> {
    serde_json::from_str(&read(&path("review-v1.json"))?).map_err(|e| e.to_string())
}

fn contract() -> Result<(), String> {
    let schema = review_schema()?;
    let mut wrong = Vec::new();
    for (definition, keys) in CONTRACT {
        let at = if definition.is_empty() { &schema } else { &schema["$defs"][*definition] };
        for key in *keys {
            let required = at["required"].as_array().is_some_and(|r| r.iter().any(|k| k == key));
            if at["properties"].get(*key).is_none() || !required {
                wrong.push(format!("{definition}.{key}: not there, or not required"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A report against its published schema, `docs/schema/NAME-v1.json`.
fn fits_schema(name: &str, report: &Value) -> Result<(), String> {
    let schema: Value =
        serde_json::from_str(&read(&path(&format!("{name}-v1.json")))?).map_err(|e| e.to_string())?;
    validate(report, &schema, &schema, "")?;
    let expected = Value::from(format!("fabric-admission.dev/{name}/v1"));
    crate::support::round_trip::same("schema", &expected, &report["schema"])
}

pub(crate) fn validate_why(report: &Value) -> Result<(), String> {
    fits_schema("why", report)
}

pub(crate) fn validate_doctor(report: &Value) -> Result<(), String> {
    fits_schema("doctor", report)
}

/// The output of `discover`, or of `discover --diff`.
pub(crate) fn validate_discover(report: &Value) -> Result<(), String> {
    fits_schema(if report["drift"].is_null() { "discover" } else { "discover-diff" }, report)
}

pub(crate) fn validate_audit(report: &Value) -> Result<(), String> {
    fits_schema("audit", report)
}

pub(crate) fn validate_profiles(report: &Value) -> Result<(), String> {
    fits_schema("profiles", report)
}

pub(crate) fn validate_review(report: &Value) -> Result<(), String> {
    fits(report)
}

pub(crate) fn validate_verify_log(result: &Value) -> Result<(), String> {
    fits_schema("verify-log", result)
}

pub(crate) fn validate_preflight(report: &Value) -> Result<(), String> {
    fits_schema("preflight", report)
}

/// A report against the published schema and the contract's word on null.
fn fits(report: &Value) -> Result<(), String> {
    fits_schema("review", report)?;
    let summary = &report["summary"];
    for key in ["results", "skipped", "errors"] {
        let count = report[key].as_array().map(|a| a.len() as u64);
        crate::support::round_trip::same(&format!("summary.{key}"), count, summary[key].as_u64())?;
    }
    nulls(report, "")
}

/// Unknown values are null where the contract says so, and nowhere else; lines and columns count from 1.
fn nulls(value: &Value, at: &str) -> Result<(), String> {
    match value {
        Value::Object(object) => object.iter().try_for_each(|(key, value)| {
            let at = format!("{at}/{key}");
            if value.is_null() && !NULLABLE.contains(&key.as_str()) {
                return Err(format!("{at} is null"));
            }
            if matches!(key.as_str(), "line" | "column") && value.as_u64().is_none_or(|n| n == 0) {
                return Err(format!("{at} is {value}"));
            }
            // What a patch sets is the user's.
            if key == "value" { Ok(()) } else { nulls(value, &at) }
        }),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(i, value)| nulls(value, &format!("{at}/{i}")))
        }
        _ => Ok(()),
    }
}

/// The part of JSON Schema that our schemas and that of SARIF use. Keys that a schema does not list are refused, unless it
/// allows them by name.
pub(crate) fn validate(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.trim_start_matches('#');
        let target = root.pointer(pointer).ok_or_else(|| format!("no {reference} in the schema"))?;
        return validate(value, target, root, at);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(options) = schema[keyword].as_array() {
            let fits = options.iter().any(|option| validate(value, option, root, at).is_ok());
            return if fits { Ok(()) } else { Err(format!("{at}: {value} fits nothing of {keyword}")) };
        }
    }
    if let Some(constant) = schema.get("const").filter(|c| *c != value) {
        return Err(format!("{at}: {value} is not {constant}"));
    }
    if schema["enum"].as_array().is_some_and(|e| !e.contains(value)) {
        return Err(format!("{at}: {value} is none of {}", schema["enum"]));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.contains(&kind(value)) {
        return Err(format!("{at}: {value} is not of type {types:?}"));
    }
    if let Some(items) = value.as_array().filter(|_| schema["items"].is_object()) {
        for (index, item) in items.iter().enumerate() {
            validate(item, &schema["items"], root, &format!("{at}/{index}"))?;
        }
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|key| !object.contains_key(*key)) {
        return Err(format!("{at}: no key {missing:?}"));
    }
    let Some(properties) = schema["properties"].as_object() else {
        let values = &schema["additionalProperties"];
        return if values.is_object() {
            object.iter().try_for_each(|(key, value)| validate(value, values, root, &format!("{at}/{key}")))
        } else {
            Ok(())
        };
    };
    object.iter().try_for_each(|(key, value)| match properties.get(key) {
        Some(property) => validate(value, property, root, &format!("{at}/{key}")),
        None if schema["additionalProperties"] == true => Ok(()),
        None => Err(format!("{at}: key {key:?} is not in the schema")),
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_u64() || n.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

//! `values.yaml` and `values.schema.json` name the same values, and README.md has the table of them.

use crate::support::helm::chart;
use crate::support::round_trip::{documents, same};
use crate::support::suite::Suite;
use crate::support::{golden, read};
use serde_json::Value;
use std::collections::BTreeSet;

const BEGIN: &str = "<!-- values: generated from values.schema.json and values.yaml -->\n";
const END: &str = "<!-- end of values -->\n";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("chart::table_of_values_is_current", || Ok(table()?));
    suite.add("chart::values_and_schema_name_the_same", || Ok(names()?));
}

/// A value: its path, its schema, and its default.
type Row = (String, Value, Value);

fn rows() -> Result<Vec<Row>, String> {
    let schema: Value =
        serde_json::from_str(&read(&chart().join("values.schema.json"))?).map_err(|e| e.to_string())?;
    let text = read(&chart().join("values.yaml"))?;
    let defaults = documents(text.as_bytes()).into_iter().map(|(_, v)| v).next().ok_or("no values")?;
    let mut rows = Vec::new();
    collect("", &schema, &defaults, &mut rows);
    Ok(rows)
}

fn collect(path: &str, schema: &Value, defaults: &Value, rows: &mut Vec<Row>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if property["properties"].is_object() {
            collect(&path, property, &defaults[name], rows);
        } else if name != "global" {
            rows.push((path, property.clone(), defaults[name].clone()));
        }
    }
}

fn table() -> Result<(), String> {
    let mut table = "| value | default | meaning |\n| --- | --- | --- |\n".to_owned();
    for (path, schema, default) in rows()? {
        let meaning = schema["description"].as_str().ok_or_else(|| format!("{path}: no description"))?;
        // Long defaults are in values.yaml.
        let default = match default.to_string() {
            text if text.len() > 40 => "see values.yaml".to_owned(),
            text => format!("`{}`", text.replace('"', "")),
        };
        table += &format!("| `{path}` | {} | {meaning} |\n", if default == "``" { "" } else { &default });
    }
    let file = chart().join("README.md");
    let page = read(&file)?;
    let (before, rest) = page.split_once(BEGIN).ok_or("README.md has no table of values")?;
    let (_, after) = rest.split_once(END).ok_or("the table of values has no end")?;
    golden(&file, Some(&format!("{before}{BEGIN}\n{table}\n{END}{after}")))
}

fn names() -> Result<(), String> {
    let missing = rows()?.into_iter().filter(|(_, _, default)| default.is_null());
    same("in the schema, and not in values.yaml", Vec::<String>::new(), missing.map(|r| r.0).collect())?;
    // The schema refuses an unknown value, so what helm takes as default is in the schema (chart::lints).
    let twice: Vec<String> = rows()?.into_iter().map(|r| r.0).collect();
    let once: BTreeSet<&String> = twice.iter().collect();
    same("values", once.len(), twice.len())
}

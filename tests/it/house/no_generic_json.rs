//! No `serde_json::Value` on the path of `/mutate`: a generic document costs more than the whole decision
//! (`benches/decision.rs` has both), and patches come from intents on the raw text.

use crate::house::layers::{sources, tokens};
use crate::support::suite::Suite;
use crate::support::{read, root};

/// What a request runs through.
const PATH: &[&str] = &[
    "engine/demands",
    "engine/json",
    "engine/multus",
    "engine/nodes",
    "engine/patch",
    "engine/plan",
    "engine/pod",
    "engine/profile",
    "engine/resolve",
    "engine/review",
    "engine/rules",
    "engine/snapshot/profile_catalog.rs",
];

/// The files of those directories that no request for a pod runs through: `just docs` and the tests make the CRD, and
/// objects other than pods, such as networks with their CNI configurations, are a handful per day, and only a command writes a
/// profile out. Unit tests in files
/// of their own (`tests.rs`, `…_tests.rs`) are not compiled into the server.
const OFF_PATH: &[&str] = &[
    "src/engine/json/as_go_reads.rs",
    "src/engine/multus/cni_config.rs",
    "src/engine/multus/ipam.rs",
    "src/engine/profile/crd_with_cel_rules.rs",
    "src/engine/profile/profile_with_all_defaults_written_out.rs",
    "src/engine/plan/tests",
    "src/engine/resolve/profile_status.rs",
    "src/engine/review/findings_on_variables_of_mpi_launcher.rs",
    "src/engine/review/workloads_without_template.rs",
    "src/engine/review/strategic_merge_patch.rs",
    "src/engine/review/only_new_findings_of_updates_count.rs",
    "src/engine/review/findings_on_train_job_with_runtime.rs",
    "src/engine/rules/cni_config_of_network_definition.rs",
    "src/engine/rules/json_in_text_fields.rs",
    "src/engine/rules/report_fields_crd_refuses.rs",
    "src/engine/rules/inputs",
    "src/engine/rules/networks/fab111_rdma_plugin_position",
    "src/engine/rules/networks/fab112_refused_plugin_values",
    "src/engine/rules/networks/fab113_master_interface",
    "src/engine/rules/networks/fab114_unnameable_network",
    "src/engine/rules/networks/fab117_spider_multus_config_keys",
    "src/engine/rules/networks/fab130_host_local_ipam",
    "src/engine/rules/networks/fab133_default_route_over_network",
    "src/engine/rules/networks/fab137_invalid_address_pool",
    "src/engine/rules/networks/fab150_network_of_other_namespace/claim_objects.rs",
    "src/engine/rules/networks/ipam_of_network_object.rs",
    "src/engine/rules/object_context.rs",
    "src/engine/rules/operators",
];

/// Adds the trials.
pub(crate) fn add(suite: &mut Suite) {
    suite.add("no_generic_json::the_scan_sees", || Ok(sees()?));
    suite.add("no_generic_json::on_the_path_of_a_request", || {
        let mut found = Vec::new();
        let gone = OFF_PATH.iter().filter(|off| !root().join(off).exists());
        found.extend(gone.map(|off| format!("{off} does not exist; correct the list OFF_PATH")));
        for entry in PATH {
            let path = root().join("src").join(entry);
            let files = if path.is_dir() { sources(&path) } else { vec![path] };
            if files.is_empty() {
                return Err(format!(
                    "src/{entry} does not exist; correct the list in tests/it/house/no_generic_json.rs"
                )
                .into());
            }
            let test = |f: &std::path::Path| f.to_string_lossy().ends_with("tests.rs");
            let on_path = |f: &&std::path::PathBuf| {
                !test(f) && !OFF_PATH.iter().any(|off| f.starts_with(root().join(off)))
            };
            for file in files.iter().filter(on_path) {
                let name = file.strip_prefix(root()).unwrap_or(file).display().to_string();
                found.extend(uses(&read(file)?).into_iter().map(|u| format!("{name}: {u}")));
            }
        }
        if found.is_empty() { Ok(()) } else { Err(found.join("\n").into()) }
    });
}

/// Where code outside tests makes or takes a generic document.
fn uses(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let tokens = tokens(code);
    let at = |i: usize| tokens.get(i).map_or("", String::as_str);
    let mut import = false;
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        // `use serde_json::{…};` to its end
        import = at(i) != ";" && (import || at(i) == "use" && at(i + 1) == "serde_json");
        let path = i > 1 && at(i - 1) == "::";
        let generic = match at(i) {
            // `Self::Value` is a visitor's, `Variable::Value` a variant.
            "Value" if path => at(i - 2) == "serde_json" || import,
            "Value" => import || at(i + 1) == "::",
            "json" => import || at(i + 1) == "!",
            "to_value" | "from_value" => true,
            "Map" => import || path && at(i - 2) == "serde_json",
            _ => false,
        };
        let line = tokens[i.saturating_sub(6)..=i].join(" ");
        if generic {
            found.push(line);
        }
    }
    found
}

fn sees() -> Result<(), String> {
    for (source, count) in [
        ("fn f(v: &serde_json::Value) {}", 1),
        ("use serde_json::Value;", 1),
        ("use serde_json::{Map, Value as V, value::RawValue}; use a::Value;", 2),
        ("let a = Value::Null;", 1),
        ("let a = serde_json::json!({});", 1),
        ("let a = serde_json::to_value(b)?;", 1),
        ("use serde_json::value::RawValue; fn f(v: &RawValue) {}", 0),
        ("type Value = Text; fn g() -> Self::Value { Variable::Value(1) } // serde_json::Value", 0),
        ("fn a() {}\n#[cfg(test)]\nmod tests { use serde_json::Value; }", 0),
    ] {
        let found = uses(source);
        if found.len() != count {
            return Err(format!("in {source:?} the scan sees {found:?}"));
        }
    }
    Ok(())
}

//! The limits in the table of docs/reliability.md are the constants of the code.

use crate::support::suite::Suite;
use crate::support::{read, root};

/// How a row of the table begins, and the constant behind it. Rows without a file name a rule and no single constant, or
/// the default of a setting, which `fabric-admission serve --help` prints.
const ROWS: &[(&str, &str, &str)] = &[
    ("connections", "", ""),
    ("connections of one address", "", ""),
    ("requests in progress or waiting", "", ""),
    ("requests of one address", "", ""),
    ("bytes of bodies and answers", "", ""),
    ("bytes of bodies and answers of one address", "", ""),
    ("header of a request", "", ""),
    ("one body", "", ""),
    ("pieces of one body", "", ""),
    ("bytes of one request besides", "src/server/framing_of_bodies.rs", "MOST_BESIDES_DATA"),
    ("TLS records of less than 1 KiB", "src/server/tls_records_without_data.rs", "MOST_SHORT"),
    ("first message of a TLS client", "src/server/tls_records_without_data.rs", "MOST_OF_FIRST_MESSAGE"),
    ("protocols", "src/server/tls_handshake.rs", "MOST_PROTOCOLS"),
    ("rest of a TLS handshake", "src/server/tls_records_without_data.rs", "MOST_OF_REST_OF_HANDSHAKE"),
    ("buffer of the kernel for what a connection receives", "src/server/listener.rs", "RECEIVE_BUFFER"),
    ("buffer of the kernel for what a connection sends", "src/server/listener.rs", "SEND_BUFFER"),
    ("concurrent decisions on bodies over 64 KiB", "", ""),
    ("concurrent decisions on bodies of 16 to 64 KiB", "", ""),
    (
        "estimated memory of all decisions",
        "src/server/turns_of_decisions_and_handshakes.rs",
        "MAX_MEMORY_OF_ALL_DECISIONS",
    ),
    ("time of a decision", "", ""),
    ("escape sequences", "src/server/estimate_memory_of_decision.rs", "MAX_ESCAPES"),
    (
        "texts of a body over 64 KiB that have an escape sequence",
        "src/server/estimate_memory_of_decision.rs",
        "MAX_TEXTS_WITH_ESCAPES",
    ),
    ("white space", "src/server/estimate_memory_of_decision.rs", "MAX_WHITE_SPACE"),
    ("name of the object", "src/server/namespace_of_body.rs", "MIN_LONG_NAME"),
    ("containers of an injected pod", "src/engine/plan/why_pod_gets_nothing.rs", "MAX_CONTAINERS"),
    ("variables and resources", "src/engine/plan/patch_size_limit.rs", "MAX_BYTES_OF_ALL_TARGETS"),
    (
        "container settings that preflight copies",
        "src/engine/plan/preflight_and_monitor/which_containers_are_added.rs",
        "MAX_COPIED_BYTES",
    ),
    (
        "values that profiles set in all pod templates",
        "src/engine/pod/limits_and_costs_of_pods.rs",
        "MAX_COMPARED_VALUES",
    ),
    (
        "work for all different pod templates",
        "src/engine/pod/limits_and_costs_of_pods.rs",
        "MAX_CHECKED_VALUES",
    ),
    ("pod templates of an object", "src/engine/pod/limits_of_template_search.rs", "MAX_TEMPLATES"),
    ("objects and lists", "src/engine/pod/limits_of_template_search.rs", "MAX_PARTS"),
    ("networks of a pod", "src/engine/multus/parse_networks_annotation.rs", "MAX_NETWORKS"),
    ("different resource names", "src/engine/pod/limits_and_costs_of_pods.rs", "MAX_RESOURCE_NAMES"),
    ("entries of `nodeSelector`", "src/engine/pod/limits_and_costs_of_pods.rs", "MAX_NODE_SELECTOR"),
    ("entries of `limits`", "src/engine/json/lists_too_long_to_decode.rs", "MAX_RESOURCES"),
    (
        "entries of `limits` and `requests` of all",
        "src/engine/json/lists_too_long_to_decode.rs",
        "MAX_RESOURCES_OF_POD",
    ),
    ("name of a resource in", "src/engine/json/lists_too_long_to_decode.rs", "MAX_RESOURCE_NAME"),
    ("members of a workload", "src/engine/review/only_new_findings_of_updates_count.rs", "MAX_MEMBERS"),
    ("labels of a pod", "src/engine/pod/limits_and_costs_of_pods.rs", "MAX_LABELS"),
    ("resource claims of a pod", "src/engine/pod/limits_and_costs_of_pods.rs", "MAX_CLAIMS"),
    ("devices that the resource claims", "src/engine/demands/claimed_devices.rs", "MAX_ASKS"),
    ("comparisons of node affinity", "src/engine/decision_limits.rs", "MAX_LOOKS"),
    ("comparisons of single nodes and NICs", "src/engine/decision_limits.rs", "MAX_LOOKS"),
    ("the node requirements of a profile", "src/engine/plan/node_affinity.rs", "MAX_BYTES_IN_TERMS"),
    (
        "different names of unknown variables",
        "src/engine/rules/nccl/fab408_unread_variable/mod.rs",
        "MAX_NAMES",
    ),
    ("the same in all pod templates", "src/engine/decision_limits.rs", "MAX_UNKNOWN_VARIABLES"),
    ("name of a driver", "src/engine/facts/object_shape.rs", "MAX_NAME_LENGTH"),
    (
        "resource name in the annotation",
        "src/engine/facts/network_of_one_object.rs",
        "MAX_RESOURCE_NAME_LENGTH",
    ),
    ("node label in the annotation", "src/engine/facts/network_of_one_object.rs", "MAX_NODE_LABEL_LENGTH"),
    ("labels of one Node", "src/engine/json/labels_within_limits.rs", "MAX_LABELS"),
    ("extended resources of one Node", "src/engine/nodes/node_object.rs", "MAX_EXTENDED_RESOURCES"),
    ("lines of `/etc/nccl.conf`", "src/engine/plan/nccl_conf_format.rs", "MAX_VARIABLES"),
    ("containers of a pod that set variables", "src/engine/rules/variables_of_pod.rs", "MAX_CONTAINERS"),
    ("values of variables with references", "", ""),
    ("text in `command` and `args`", "src/engine/pod/limits_and_costs_of_pods.rs", "MAX_COMMANDS_LENGTH"),
    ("words of one command", "src/engine/pod/shell/split_commands_into_words.rs", "MAX_WORDS"),
    ("here-documents", "src/engine/pod/shell/split_commands_into_words.rs", "MAX_DOCUMENTS"),
    ("variables and shell scripts of one ConfigMap", "src/engine/facts/config_map.rs", "MAX_TEXTS"),
    ("settings of NCCL's variables", "src/engine/pod/shell/variables_set.rs", "MAX_SETTINGS"),
    ("a FabricProfile", "", ""),
    ("values in all expressions", "src/engine/profile/checks/list_lengths.rs", "MAX_VALUES"),
    ("a page of a list", "", ""),
    ("bytes that a connection of the admin port sends", "src/server/admin_port.rs", "MAX_SENT"),
    ("connections of the admin port", "src/server/admin_port.rs", "MAX_CONNECTIONS"),
    ("log lines of one kind", "", ""),
];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("docs::the_budgets_are_those_of_the_code", || Ok(check()?));
}

fn check() -> Result<(), String> {
    let page = read(&root().join("docs/reliability.md"))?;
    let (_, table) = page.split_once("## Budgets").ok_or("docs/reliability.md has no section Budgets")?;
    let rows = table.lines().skip_while(|l| !l.starts_with('|')).take_while(|l| l.starts_with('|')).skip(2);
    let rows: Vec<&str> = rows.collect();
    if rows.len() != ROWS.len() {
        return Err(format!("{} rows, {} expected", rows.len(), ROWS.len()));
    }
    for (row, (begins, file, name)) in rows.into_iter().zip(ROWS) {
        let mut cells = row.split('|').skip(1).map(str::trim);
        let (what, limit) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        if !what.starts_with(begins) {
            return Err(format!("the row of {begins:?} begins with {what:?}"));
        }
        if file.is_empty() {
            continue;
        }
        let value =
            constant(&read(&root().join(file))?, name).ok_or(format!("{file}: no constant {name}"))?;
        if !written(value).iter().any(|said| begins_with(limit, said)) {
            return Err(format!("{what:?}: the page says {limit:?}, {name} in {file} is {value}"));
        }
    }
    Ok(())
}

/// The value of a constant, which is a number or a sum, a product or a shift of numbers.
fn constant(source: &str, name: &str) -> Option<u64> {
    let after = source.split_once(&format!("const {name}: "))?.1;
    let text = after.split_once("= ")?.1.split_once(';')?.0.replace('_', "");
    let numbers = |by: &str| text.split(by).map(|n| n.trim().parse::<u64>().ok()).collect::<Option<Vec<_>>>();
    if let Some((one, bits)) = text.split_once(" << ") {
        return Some(one.parse::<u64>().ok()? << bits.parse::<u32>().ok()?);
    }
    numbers(" + ").map(|n| n.iter().sum()).or_else(|| numbers(" * ").map(|n| n.iter().product()))
}

/// Whether a cell begins with a number, which does not go on.
fn begins_with(cell: &str, number: &str) -> bool {
    cell.strip_prefix(number).is_some_and(|rest| {
        let goes_on = rest.trim_start_matches(',').starts_with(|c: char| c.is_ascii_digit());
        let has_unit = rest.starts_with(" KiB") || rest.starts_with(" MiB");
        !goes_on && !has_unit
    })
}

/// How the page may write a number.
fn written(value: u64) -> Vec<String> {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let units = [(20, "MiB"), (10, "KiB")].into_iter().filter(|(bits, _)| value.is_multiple_of(1 << bits));
    [grouped].into_iter().chain(units.map(|(bits, unit)| format!("{} {unit}", value >> bits))).collect()
}

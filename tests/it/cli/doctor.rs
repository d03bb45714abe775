//! `doctor`: each check in a healthy cluster and in broken ones, as plain objects; and its page. Against a real API
//! server: `e2e::doctor_…`.
//!
//! `tests/doctor/healthy.yaml` is a healthy installation. `tests/doctor/CHECK.yaml` has one broken cluster a document:
//!
//! | key | what |
//! | --- | --- |
//! | `case` | what is broken |
//! | `pre` | whether the check is one before an installation (optional) |
//! | `expect` | the result of the check |
//! | `says`, `hint` | parts of the message and of the hint (optional) |
//! | `change` | RFC 6902 operations on the healthy installation |

use crate::support::round_trip::{documents, same};
use crate::support::suite::Suite;
use crate::support::{golden, names, read, root, run};
use fabric_admission::doctor::doctor_report::{DoctorReportEntry, Report};
use fabric_admission::doctor::probe_pods_and_their_answers::Answer;
use fabric_admission::doctor::{
    CHECKS, Certificate, Facts, Kind, NotTried, Phase, Replica, Right, Tried, doctor_page as page,
    report_table,
};
use fabric_admission::facts::FactKind;
use fabric_admission::snapshot::{Builder, Layer, Settings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::OnceLock;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("doctor::a_healthy_cluster_has_no_problem", || Ok(healthy_is_well()?));
    suite.add("doctor::every_check_fails_somewhere", || Ok(all_fail()?));
    suite.add("doctor::what_was_not_read_is_never_a_success", || Ok(unread()?));
    suite.add("doctor::a_cluster_that_cannot_be_read_is_no_success", || Ok(unread_cluster()?));
    suite.add("doctor::one_failed_list_skips_only_its_checks", || Ok(one_failed_list()?));
    suite.add("doctor::what_nobody_opted_into_is_not_proved", || Ok(not_proved()?));
    suite.add("doctor::a_server_that_is_away_is_exit_code_3", || Ok(away()?));
    for check in CHECKS {
        let file = format!("{}.yaml", check.id);
        let text = read(&root().join("tests/doctor").join(&file)).unwrap_or_default();
        for (_, case) in documents(text.as_bytes()) {
            let name = case["case"].as_str().unwrap_or_default().replace(' ', "_");
            suite.add(format!("doctor::{}::{name}", check.id), move || Ok(run_case(check.id, &case)?));
        }
    }
    suite.add("doctor::the_page_of_each_check_opens", || Ok(pages_open()?));
    suite.add("doctor::page_is_current", || {
        Ok(golden(&root().join("docs/doctor.md"), Some(&page::page(&examples()?, &kinds_of_facts())))?)
    });
}

/// Group and plural of the kinds that decisions need.
pub(crate) fn kinds_of_facts() -> Vec<(&'static str, &'static str)> {
    fabric_admission::cluster::watched_kinds::WATCHED.iter().map(|kind| (kind.group, kind.plural)).collect()
}

/// The page of each check is one that opens: the file and its heading.
fn pages_open() -> Result<(), String> {
    let base = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");
    for check in CHECKS {
        let page = check.page();
        let path = page.strip_prefix(base).ok_or_else(|| format!("{page} is not on {base}"))?;
        let (file, anchor) = path.split_once('#').ok_or_else(|| format!("{page} has no anchor"))?;
        let text = read(&root().join(file))?;
        same(&page, true, text.lines().any(|line| line == format!("### {anchor}")))?;
    }
    Ok(())
}

fn document(path: &str) -> Result<Value, String> {
    let text = read(&root().join(path))?;
    documents(text.as_bytes())
        .into_iter()
        .next()
        .map(|(_, value)| value)
        .ok_or_else(|| format!("{path}: empty"))
}

/// The healthy installation, with the objects of `deploy/`.
pub(crate) fn healthy() -> Result<Value, String> {
    static WHOLE: OnceLock<Result<Value, String>> = OnceLock::new();
    WHOLE.get_or_init(read_healthy).clone()
}

fn read_healthy() -> Result<Value, String> {
    let mut whole = document("tests/doctor/healthy.yaml")?;
    let mut crd = document("deploy/crds/fabricprofiles.yaml")?;
    crd["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
    let mut deployed = vec![crd];
    for file in ["webhooks", "service", "deployment", "networkpolicy"] {
        let text = read(&root().join(format!("deploy/base/{file}.yaml")))?;
        deployed.extend(documents(text.as_bytes()).into_iter().map(|(_, object)| object));
    }
    for mut object in deployed {
        for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
            webhook["clientConfig"]["caBundle"] = json!("Q0E=");
        }
        let kind = object["kind"].as_str().ok_or("no kind")?.to_lowercase();
        if kind == "deployment" {
            object["status"] = json!({"readyReplicas": 2});
        }
        let plural = if kind == "networkpolicy" { "networkpolicies".to_owned() } else { format!("{kind}s") };
        let name = object["metadata"]["name"].as_str().ok_or("no name")?.to_owned();
        whole["objects"][&plural][&name] = object;
    }
    Ok(whole)
}

/// Kinds that are facts of the Snapshot.
const SNAPSHOT: [(&str, &str, &str, FactKind); 4] = [
    ("namespaces", "", "Namespace", FactKind::Namespace),
    ("nodes", "", "Node", FactKind::Node),
    (
        "network-attachment-definitions",
        "k8s.cni.cncf.io",
        "NetworkAttachmentDefinition",
        FactKind::NetworkAttachmentDefinition,
    ),
    ("fabricprofiles", "fabric-admission.dev", "FabricProfile", FactKind::FabricProfile),
];

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn rights(value: &Value) -> Result<Vec<Right>, String> {
    let list = value.as_array().ok_or_else(|| text(value))?;
    let one = |right: &Value| Right {
        verb: text(&right["verb"]),
        group: text(&right["group"]),
        resource: text(&right["resource"]),
        namespace: text(&right["namespace"]),
        name: text(&right["name"]),
        allowed: right["allowed"] == true,
    };
    Ok(list.iter().map(one).collect())
}

fn answer(value: &Value) -> Answer {
    if let Some(message) = value["refused"].as_str() {
        return Answer::Refused { message: message.to_owned(), reason: text(&value["reason"]) };
    }
    match value["unanswered"].as_str() {
        Some(why) => Answer::Unanswered(why.to_owned()),
        None => Answer::Created(value["created"].clone()),
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The facts that a document stands for.
pub(crate) fn facts(whole: &Value) -> Result<Facts, String> {
    let mut facts = Facts {
        namespace: "fabric-admission".to_owned(),
        version: text(&whole["version"]),
        now: whole["now"].as_i64().ok_or("no time")?,
        api_clock: whole["clock"].as_i64(),
        api_version: whole["api"].clone(),
        own_rights: rights(&whole["rights"]["own"]),
        install_rights: rights(&whole["rights"]["install"]),
        server_rights: rights(&whole["rights"]["server"]),
        metrics: whole["metrics"]
            .as_array()
            .map(|lines| lines.iter().map(text).collect())
            .ok_or_else(|| text(&whole["metrics"])),
        ..Facts::default()
    };
    let mut builder = Builder::new(crate::support::generated_world::bases().to_vec());
    builder.replace_settings(Settings {
        operator_namespaces: Some(["kube-system".to_owned()].into()),
        ..Settings::default()
    });
    for (plural, objects) in entries(&whole["objects"]) {
        for (name, object) in entries(objects) {
            let mut object = object.clone();
            object["metadata"]["name"] = json!(name);
            facts.objects.entry(plural.clone()).or_default().push(object.clone());
            if let Some((_, group, kind, _)) = SNAPSHOT.iter().find(|(known, ..)| known == plural) {
                // A broken profile is a case of its own.
                let _ = builder.add(Layer::Live, group, kind, &object.to_string(), "");
            }
        }
    }
    facts.broken_files = whole["broken_files"].as_array().into_iter().flatten().map(text).collect();
    for (plural, why) in entries(&whole["unread"]) {
        facts.unread.insert(plural.clone(), text(why));
    }
    for (plural, _, _, kind) in SNAPSHOT {
        builder.set_listed(kind, !facts.unread.contains_key(plural));
    }
    facts.snapshot = builder.build();
    for (address, why) in entries(&whole["replicas"]) {
        let unreached = why.as_str().map(str::to_owned);
        facts.replicas.push(Replica { address: address.clone(), unreached });
    }
    for (owner, certificate) in entries(&whole["certificates"]) {
        let trust: BTreeMap<String, Option<String>> = entries(&certificate["trust"])
            .map(|(name, why)| (name.clone(), why.as_str().map(str::to_owned)))
            .collect();
        let [from, until] = ["from", "until"].map(|key| certificate[key].as_i64().unwrap_or_default());
        facts.certificates.push(Certificate { owner: owner.clone(), from, until, trust });
    }
    let calls = &whole["calls"];
    facts.calls = match calls["why"].as_str() {
        Some(why) => {
            Err(NotTried { why: why.to_owned(), hint: text(&calls["hint"]), unread: calls["unread"] == true })
        }
        None => Ok(Tried {
            namespace: text(&calls["namespace"]),
            profile: text(&calls["profile"]),
            good: answer(&calls["good"]),
            bad: answer(&calls["bad"]),
        }),
    };
    Ok(facts)
}

fn healthy_is_well() -> Result<(), String> {
    let facts = facts(&healthy()?)?;
    for before in [false, true] {
        let report = Report::run_checks(&facts, before);
        let bad: Vec<&DoctorReportEntry> =
            report.checks().filter(|check| check.result != Kind::Success).collect();
        if !bad.is_empty() || !report.success {
            return Err(format!("{bad:#?}"));
        }
    }
    Ok(())
}

/// The healthy cluster with the changes of a case.
fn broken(case: &Value) -> Result<Facts, String> {
    let mut whole = healthy()?;
    let patch: json_patch::Patch =
        serde_json::from_value(case["change"].clone()).map_err(|e| e.to_string())?;
    json_patch::patch(&mut whole, &patch).map_err(|e| e.to_string())?;
    facts(&whole)
}

fn entry(id: &str, case: &Value) -> Result<DoctorReportEntry, String> {
    let (facts, before) = (broken(case)?, case["pre"] == true);
    let check = CHECKS.iter().find(|check| check.id == id && check.is_for(before));
    let found = check.map(|check| DoctorReportEntry::run_check(check, &facts));
    found.ok_or_else(|| format!("{id} did not run; is pre right?"))
}

fn run_case(id: &str, case: &Value) -> Result<(), String> {
    for (key, _) in entries(case) {
        if !["case", "pre", "expect", "says", "hint", "change"].contains(&key.as_str()) {
            return Err(format!("unknown key {key}"));
        }
    }
    let found = entry(id, case)?;
    same("result", case["expect"].as_str().unwrap_or_default(), found.result.word())
        .map_err(|e| format!("{e}\n{found:#?}"))?;
    for (key, shown) in [("says", &found.message), ("hint", &found.hint)] {
        let wanted = text(&case[key]);
        if !shown.as_deref().unwrap_or_default().contains(&wanted) {
            return Err(format!("{key}: {shown:?} does not contain {wanted:?}"));
        }
    }
    let failed = matches!(found.result, Kind::Warning | Kind::Error);
    if failed && (found.message.is_none() || found.hint.is_none()) {
        return Err(format!("a failure without a message or a hint: {found:#?}"));
    }
    Ok(())
}

fn all_fail() -> Result<(), String> {
    let mut ids: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    for name in names(&root().join("tests/doctor")) {
        let id = name.trim_end_matches(".yaml");
        if id != "healthy" && !ids.contains(&id) {
            return Err(format!("tests/doctor/{name} is about no check"));
        }
    }
    let shown = examples()?;
    let missing: Vec<&str> = ids.iter().copied().filter(|id| !shown.contains_key(*id)).collect();
    if !missing.is_empty() {
        return Err(format!("no cluster in which these fail: {missing:?}"));
    }
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    same("ids", count, ids.len())
}

/// The lines of each check in its first case that fails.
fn examples() -> Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    for check in CHECKS {
        let text = read(&root().join(format!("tests/doctor/{}.yaml", check.id)))?;
        let cases = documents(text.as_bytes()).into_iter().map(|(_, case)| case);
        let fails = |case: &Value| ["warning", "error"].iter().any(|failed| case["expect"] == *failed);
        let Some(case) = cases.into_iter().find(fails) else { continue };
        let mut shown = Vec::new();
        let mut plain = anstream::StripStream::new(&mut shown);
        report_table::write_check(&mut plain, &entry(check.id, &case)?).map_err(|e| e.to_string())?;
        let shown = String::from_utf8(shown).map_err(|e| e.to_string())?;
        // The page is the one that is read.
        let lines = shown.lines().filter(|line| !line.trim_start().starts_with("page: "));
        all.insert(check.id.to_owned(), lines.flat_map(|line| [line, "\n"]).collect());
    }
    Ok(all)
}

/// For each object kind that a check needs: without it, the check is not successful.
fn unread() -> Result<(), String> {
    for check in CHECKS {
        for source in check.needs {
            // Results of this kind have a place of their own in the facts, and their checks their own cases.
            if source.plural == "secrets" {
                continue;
            }
            let mut whole = healthy()?;
            whole["unread"][source.plural] = json!("forbidden");
            let facts = facts(&whole)?;
            let outcome = check.run(&facts);
            let special = ["certificate-expiry", "pod-is-changed", "pod-is-refused"];
            // Where the objects are read, these get no facts; and these need the kind only for one of two results.
            let part = ["network-crd", "ca-bundles", "profiles"].contains(&check.id)
                || [("multus", "nodes"), ("network-policies", "endpoints")]
                    .contains(&(check.id, source.plural));
            if outcome.kind == Kind::Success && !special.contains(&check.id) && !part {
                return Err(format!("{} succeeds without {}", check.id, source.plural));
            }
        }
    }
    Ok(())
}

/// Runs `doctor -o json` against an API server of plain texts: the answer to a path, or none for an internal error.
fn doctor_on(answer: fn(&str) -> Option<String>) -> Result<(i32, Value), String> {
    let scratch = crate::support::Scratch::new()?;
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    let config = format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: e, cluster: {{server: 'http://{address}'}}}}]\n\
         contexts: [{{name: e, context: {{cluster: e, user: e}}}}]\nusers: [{{name: e, user: {{}}}}]\ncurrent-context: e\n"
    );
    scratch.write("kubeconfig", &config)?;
    // It ends with the process of the tests.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut part = [0; 4096];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut part) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => request.extend_from_slice(&part[..read]),
                }
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default();
            let (status, body) = match answer(path) {
                Some(body) => ("200 OK", body),
                None => ("500 Internal Server Error", "{}".to_owned()),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let ran = run(&["doctor", "-o", "json", "--kubeconfig", "kubeconfig"], b"", scratch.path())?;
    let report = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {ran:?}"))?;
    crate::cli::published_schemas::validate_doctor(&report)?;
    Ok((ran.code, report))
}

fn version_only(path: &str) -> Option<String> {
    (path == "/version").then(|| r#"{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}"#.to_owned())
}

fn check<'a>(report: &'a Value, id: &str) -> &'a Value {
    let categories = report["categories"].as_array().into_iter().flatten();
    let mut checks = categories.flat_map(|category| category["checks"].as_array().into_iter().flatten());
    checks.find(|check| check["id"] == id).unwrap_or(&Value::Null)
}

/// An API server that answers only `/version`: nothing is known, so the result is a failure.
fn unread_cluster() -> Result<(), String> {
    let (code, report) = doctor_on(version_only)?;
    same("exit code", 1, code)?;
    same("success", &json!(false), &report["success"])?;
    same("proved", &json!(false), &report["proved"])?;
    for id in ["configurations", "pod-is-changed", "pod-is-refused"] {
        same(id, &json!("error"), &check(&report, id)["result"])?;
    }
    let mut whole = healthy()?;
    whole["unread"]["mutatingwebhookconfigurations"] = json!("no answer");
    whole["calls"] = json!({"why": "namespaces could not be read: no answer", "unread": true});
    let report = Report::run_checks(&facts(&whole)?, false);
    let waiting: Vec<&str> = report.failed_retryable_checks().map(|check| check.id).collect();
    same("worth waiting", vec!["configurations", "pod-is-changed", "pod-is-refused"], waiting)
}

/// Only the list of one kind fails, which few checks need.
fn one_failed_list() -> Result<(), String> {
    let (_, report) = doctor_on(|path| match path {
        path if path.contains("/ippools") => None,
        "/version" => version_only(path),
        _ => Some(r#"{"metadata": {"resourceVersion": "1"}, "items": []}"#.to_owned()),
    })?;
    let found = check(&report, "opted-in");
    let message = found["message"].as_str().unwrap_or_default();
    if !message.contains("no namespace opted in") {
        return Err(format!("{found}"));
    }
    same("opted-in", &json!("warning"), &found["result"])?;
    same("pod-is-changed", &json!("skipped"), &check(&report, "pod-is-changed")["result"])
}

fn not_proved() -> Result<(), String> {
    let shown = |whole: &Value| -> Result<(Report, String), String> {
        let report = Report::run_checks(&facts(whole)?, false);
        let mut text = Vec::new();
        report_table::write(&mut text, &report).map_err(|e| e.to_string())?;
        Ok((report, String::from_utf8_lossy(&text).into_owned()))
    };
    let line = "No dry run has shown that the API server calls the webhook.";
    let mut whole = healthy()?;
    let (report, text) = shown(&whole)?;
    same("proved", true, report.proved && !text.contains(line))?;
    whole["calls"] = json!({"why": "no namespace has mode enforce", "hint": "label one"});
    let (report, text) = shown(&whole)?;
    same("proved", false, report.proved)?;
    same("success", true, report.success)?;
    same("the last line", Some(line), text.lines().last())
}

fn away() -> Result<(), String> {
    let scratch = crate::support::Scratch::new()?;
    let config = "apiVersion: v1\nkind: Config\nclusters: [{name: e, cluster: {server: 'http://127.0.0.1:1'}}]\n\
                  contexts: [{name: e, context: {cluster: e, user: e}}]\nusers: [{name: e, user: {}}]\ncurrent-context: e\n";
    scratch.write("kubeconfig", config)?;
    let ran = run(&["doctor", "--kubeconfig", "kubeconfig"], b"", scratch.path())?;
    same("exit code", 3, ran.code)?;
    same("stdout", "", &ran.stdout)?;
    let ran = run(&["doctor", "--wait", "soon"], b"", scratch.path())?;
    same("exit code of a wrong duration", 2, ran.code)?;
    assert!(CHECKS.iter().any(|check| check.phase == Phase::Before));
    Ok(())
}

//! One line of the log for a decision, and the same in the answer's audit annotations.

use super::metrics::{broken_pod, create};
use crate::support::round_trip::same;
use crate::support::server::{PROFILE, Server, bare_pod, patched, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::io::BufRead;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("decision_log::changed_and_would_be_denied_pods_are_lines", notable);
    suite.add("decision_log::which_decisions_are_logged", which);
    suite.add("decision_log::a_wave_of_changed_pods_hides_no_denial", wave);
    suite.add("decision_log::audit_annotations_have_the_same", annotations);
    suite.add("decision_log::audit_annotations_name_the_owner_and_the_duration", owner_and_duration);
}

const LEFT_OUT: &str = "fabric_admission_log_lines_left_out_total";

/// The lines for decisions after some requests.
fn lines(which: &[&str], ask: impl FnOnce(&Server) -> Result<(), String>) -> Result<Vec<Value>, String> {
    let mut args = vec!["--profiles", "profiles.yaml", "--lame-duck", "0", "--drain", "0"];
    args.extend(which);
    let (mut server, log) = Server::logged(&[("profiles.yaml", PROFILE)], &args, &[])?;
    let log = std::thread::spawn(move || log.lines().map_while(Result::ok).collect::<Vec<_>>());
    ask(&server)?;
    server.signal("-TERM")?;
    server.wait(Duration::from_secs(20))?;
    let log = log.join().map_err(|_| "the log cannot be read")?;
    let read = |line: &String| serde_json::from_str::<Value>(line).map_err(|e| format!("{e}: {line}"));
    let lines = log.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let decisions = lines.into_iter().filter(|line| line["target"] == "fabric_admission::decisions");
    Ok(decisions.map(|line| line["fields"].clone()).collect())
}

fn messages(lines: &[Value]) -> Vec<String> {
    lines.iter().map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
}

fn notable() -> Outcome {
    let mut pod = bare_pod();
    pod["metadata"]["generateName"] = json!("trainer-");
    pod["metadata"].as_object_mut().ok_or("no metadata")?.remove("name");
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "controller": true}]);
    let mut body = review("uid-1", ("", "Pod"), "CREATE", &pod);
    body["request"]["userInfo"] = json!({"username": "ada"});
    let mut lines = lines(&[], |server| {
        server.post("/mutate", body.to_string().as_bytes())?;
        create(server, "/audit", "trial", &broken_pod()).map(drop)
    })?;
    same(
        "messages",
        vec!["pod changed", "request would be denied"],
        messages(&lines).iter().map(|m| &**m).collect(),
    )?;
    for line in &mut lines {
        line.as_object_mut()
            .ok_or("no fields")?
            .retain(|key, _| key != "message" && key != "duration_seconds");
    }
    let changes = lines[0]["changes"].as_str().unwrap_or_default().to_owned();
    assert!(changes.starts_with("networks=1 ") && changes.contains(" variable="), "{changes}");
    let expected = json!({
        "uid": "uid-1", "entry": "mutate", "mode": "enforce", "namespace": "training", "kind": "Pod",
        "name": "trainer-*", "owner": "Job/train", "user": "ada", "profile": "h100",
        "evidence": "named by the pod's annotation", "also_held": "", "rules": "", "changes": changes,
        "warnings": lines[0]["warnings"],
    });
    same("the changed pod", &expected, &lines[0])?;
    let line = &lines[1];
    assert!(line["mode"] == "audit" && line["namespace"] == "trial" && line["name"] == "trainer", "{line}");
    assert!(line["rules"].as_str().is_some_and(|rules| rules.contains("FAB101")), "{line}");
    Ok(())
}

fn which() -> Outcome {
    let ask = |server: &Server| -> Result<(), String> {
        let answer = create(server, "/mutate", "training", &bare_pod())?;
        // Nothing is left to change.
        create(server, "/mutate", "training", &patched(&bare_pod(), &answer)?)?;
        create(server, "/mutate", "training", &broken_pod())?;
        create(server, "/mutate", "training", &json!({"spec": {"containers": [{"name": "a"}]}}))?;
        create(server, "/audit", "trial", &bare_pod()).map(drop)
    };
    let all = [
        "pod changed",
        "request allowed",
        "request denied",
        "request out of scope",
        "request allowed, changes withheld",
    ];
    for (value, expected) in [("all", all.to_vec()), ("notable", vec![all[0], all[2]]), ("none", Vec::new())]
    {
        let found = messages(&lines(&["--log-decisions", value], ask)?);
        same(value, expected, found.iter().map(|message| &**message).collect())?;
    }
    Ok(())
}

fn wave() -> Outcome {
    const PODS: usize = 1_000;
    let mut left_out = 0.0;
    let lines = lines(&[], |server| {
        let body = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
        let mut client = server.client()?;
        for _ in 0..PODS {
            client.post("/mutate", body.as_bytes())?;
        }
        create(server, "/mutate", "training", &broken_pod())?;
        left_out = server.metric(LEFT_OUT)?;
        Ok(())
    })?;
    let found = messages(&lines);
    let count = |message: &str| found.iter().filter(|found| *found == message).count();
    let changed = count("pod changed");
    assert!((200..PODS).contains(&changed), "{changed}");
    assert_eq!(changed as f64 + left_out, PODS as f64);
    assert_eq!(count("request denied"), 1);
    Ok(())
}

/// The audit annotations of an answer, but for the duration.
fn without_duration(answer: &Value) -> Value {
    let mut noted = answer["response"]["auditAnnotations"].clone();
    if let Some(noted) = noted.as_object_mut() {
        noted.remove("duration_seconds");
    }
    noted
}

fn owner_and_duration() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let noted = |path: &str, pod: &Value| -> Result<Value, String> {
        Ok(create(&server, path, "training", pod)?["response"]["auditAnnotations"].clone())
    };
    let owned = |kind: &str, name: &str| {
        let mut pod = bare_pod();
        pod["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "batch/v1", "kind": kind, "name": name, "controller": true}]);
        pod
    };
    let took = |noted: &Value| -> Result<f64, String> {
        let text = noted["duration_seconds"].as_str().ok_or_else(|| format!("no duration: {noted}"))?;
        text.parse::<f64>().map_err(|e| format!("{e}: {text}"))
    };
    for path in ["/validate", "/audit"] {
        let last = noted(path, &owned("Job", "train"))?;
        assert_eq!(last["owner"], "Job/train", "{path}: {last}");
        assert!((0.0..10.0).contains(&took(&last)?), "{path}: {last}");
        assert!(noted(path, &bare_pod())?.get("owner").is_none());
        // What a caller invents is short and printable.
        let odd = noted(path, &owned(&"K".repeat(5_000), &format!("a\n\u{1b}[31m{}", "x".repeat(5_000))))?;
        let odd = odd["owner"].as_str().unwrap_or_default();
        assert!(odd.chars().count() < 600 && !odd.contains(char::is_control), "{odd}");
    }
    // The first call that changes the pod reports; the API server warns about a key that it has already.
    let first = noted("/mutate", &owned("Job", "train"))?;
    assert!(first.get("owner").is_none() && took(&first).is_ok(), "{first}");
    let answer = create(&server, "/mutate", "training", &bare_pod())?;
    same("a call without changes", &Value::Null, &noted("/mutate", &patched(&bare_pod(), &answer)?)?)?;
    // A pod out of scope has no annotation.
    let other = json!({"spec": {"containers": [{"name": "a"}]}});
    Ok(same("out of scope", &Value::Null, &noted("/validate", &other)?)?)
}

fn annotations() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let noted = |path: &str, pod: &Value| -> Result<Value, String> {
        Ok(without_duration(&create(&server, path, "training", pod)?))
    };
    let answer = create(&server, "/mutate", "training", &bare_pod())?;
    let changes = answer["response"]["auditAnnotations"]["changes"].as_str().unwrap_or_default();
    assert!(changes.starts_with("networks=1 "), "{answer}");
    let fitted = patched(&bare_pod(), &answer)?;
    same("a call without changes", &Value::Null, &noted("/mutate", &fitted)?)?;
    // A later webhook took something away. The API server keeps the first value of a key.
    let mut again = fitted.clone();
    again["spec"]["containers"][0]["env"] = json!([]);
    let second = create(&server, "/mutate", "training", &again)?;
    assert!(second["response"].get("patch").is_some(), "{second}");
    same("the second call", &json!({"changes": "variable=3"}), &without_duration(&second))?;
    let last = noted("/validate", &fitted)?;
    assert!(
        last["decision"] == "allowed" && last["profile"] == "h100" && last.get("changes").is_none(),
        "{last}"
    );
    assert_eq!(noted("/validate", &broken_pod())?["decision"], "denied");
    assert_eq!(noted("/audit", &broken_pod())?["decision"], "would_deny");
    let planned = noted("/audit", &bare_pod())?;
    assert!(planned["decision"] == "withheld" && planned["changes"] == changes, "{planned}");
    Ok(())
}

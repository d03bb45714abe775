//! What the log, the admin port and the answers say of a request, and what they keep to themselves.

use crate::support::round_trip::same;
use crate::support::server::{PROFILE, Server, bare_pod, patched, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::a_denial_is_one_line_of_the_log", denial);
    suite.add("webhook::no_value_of_a_request_is_logged", values);
    suite.add("webhook::the_admin_port_has_no_text_of_a_request", admin_port);
    suite.add("webhook::no_answer_redirects", redirects);
    suite.add("webhook::large_headers_are_refused", headers);
    suite.add("webhook::absent_profiles_and_those_of_others_read_the_same", profiles);
    suite.add("webhook::a_forged_mark_changes_no_answer", mark);
    suite.add("webhook::mirror_pods_are_not_changed", mirror);
}

/// Text that would end a line, or colour a terminal.
const EVIL: &str = "x\n{\"message\":\"forged\"}\u{1b}[31m";

/// Ends a server; the lines of its log.
type End = Box<dyn FnOnce(Server) -> Result<Vec<Value>, String>>;

fn logged(profile: &str) -> Result<(Server, End), String> {
    let (server, log) = Server::logged(
        &[("profiles.yaml", profile)],
        &["--profiles", "profiles.yaml", "--lame-duck", "0", "--drain", "0", "--workloads", "deny"],
        &[],
    )?;
    let lines = std::thread::spawn(move || log.lines().map_while(Result::ok).collect::<Vec<_>>());
    let end = move |mut server: Server| {
        server.signal("-TERM")?;
        server.wait(Duration::from_secs(20))?;
        let lines = lines.join().map_err(|_| "the log cannot be read")?;
        let read = |line: &String| serde_json::from_str(line).map_err(|e| format!("{e}: {line}"));
        lines.iter().map(read).collect()
    };
    Ok((server, Box::new(end)))
}

fn ask(server: &Server, path: &str, review: &Value) -> Result<Value, String> {
    server.post(path, review.to_string().as_bytes())?.json()
}

/// The fields of the line that says that an object was refused.
fn denials(lines: &[Value]) -> Vec<&Value> {
    lines.iter().map(|line| &line["fields"]).filter(|fields| fields["message"] == "request denied").collect()
}

fn denial() -> Outcome {
    let profile = PROFILE.replace("spec: {", "spec: {env: [{name: NCCL_ALGO, policy: forbid}], ");
    let (server, end) = logged(&profile)?;
    let mut pod = bare_pod();
    pod["spec"]["containers"][0]["env"] = json!([{"name": "NCCL_ALGO", "value": "Ring"}]);
    pod["metadata"]["generateName"] = json!("trainer-");
    pod["metadata"].as_object_mut().ok_or("no metadata")?.remove("name");
    pod["metadata"]["ownerReferences"] = json!([
        {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"},
        {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "2", "controller": true},
    ]);
    let mut body = review("uid-1", ("", "Pod"), "CREATE", &pod);
    body["request"]["userInfo"] =
        json!({"username": "system:serviceaccount:training:job-controller", "groups": ["a"]});
    assert_eq!(ask(&server, "/validate", &body)?["response"]["allowed"], false);
    // Whatever is invented stays within one short line.
    body["request"]["uid"] = json!(EVIL);
    body["request"]["namespace"] = json!(EVIL.repeat(9));
    body["request"]["userInfo"] = json!({"username": EVIL.repeat(1_000)});
    body["request"]["object"]["metadata"]["ownerReferences"] =
        json!([{"kind": EVIL.repeat(100), "name": EVIL.repeat(100), "controller": true}]);
    assert_eq!(ask(&server, "/validate", &body)?["response"]["allowed"], false);
    // What has another type than the API's costs the line nothing else.
    body["request"]["userInfo"] = json!("admin");
    body["request"]["object"]["metadata"]["ownerReferences"] = Value::Null;
    assert_eq!(ask(&server, "/validate", &body)?["response"]["allowed"], false);
    let lines = end(server)?;
    let found = denials(&lines);
    same("lines", 3, found.len())?;
    let mut first = found[0].clone();
    first.as_object_mut().ok_or("no fields")?.remove("message");
    let took = first.as_object_mut().ok_or("no fields")?.remove("duration_seconds");
    assert!(took.as_ref().and_then(Value::as_f64).is_some_and(|took| took > 0.0 && took < 5.0), "{took:?}");
    let expected = json!({
        "uid": "uid-1", "entry": "enforce", "mode": "enforce", "namespace": "training", "kind": "Pod", "name": "trainer-*",
        "owner": "Job/train", "user": "system:serviceaccount:training:job-controller", "profile": "h100", "also_held": "",
        "evidence": "named by the pod's annotation", "rules": "FAB403 FAB802", "warnings": "FAB501", "changes": "",
    });
    same("the first line", &expected, &first)?;
    for fields in &found[1..] {
        let length = fields.to_string().len();
        assert!(length < 4_000, "{length}");
        for value in fields.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str()) {
            assert!(!value.chars().any(char::is_control), "{value:?}");
        }
    }
    assert_eq!(found[2]["user"], "");
    Ok(())
}

/// A word that stands nowhere else.
const SECRET: &str = "hunter2-canary";

/// A pod with a word at every place where a tenant writes text.
fn pod_of(word: &str) -> Value {
    let mut pod = bare_pod();
    pod["metadata"]["name"] = json!(format!("n-{word}"));
    pod["metadata"]["labels"] = json!({word: word});
    pod["metadata"]["annotations"]["example.com/a"] = json!(word);
    pod["metadata"]["annotations"]["fabric-admission.dev/containers"] = json!(word);
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = json!(format!("{word}/{word}"));
    pod["spec"]["nodeSelector"] = json!({word: word});
    pod["spec"]["containers"][0]["env"] =
        json!([{"name": "PASSWORD", "value": word}, {"name": "NCCL_IB_HCA", "value": word}]);
    pod["spec"]["containers"][0]["command"] = json!(["sh", "-c", format!("export NCCL_ALGO={word}")]);
    pod["spec"]["containers"][0]["image"] = json!(format!("example.com/{word}:1"));
    pod["spec"]["containers"][0]["resources"]["limits"][format!("example.com/{word}")] = json!("1");
    pod
}

fn values() -> Outcome {
    let (server, end) = logged(PROFILE)?;
    let mut pod = pod_of(SECRET);
    // The name of an object may be logged.
    pod["metadata"]["name"] = json!("p");
    for path in ["/mutate", "/validate", "/audit", "/validate-networks"] {
        ask(&server, path, &review("u", ("", "Pod"), "CREATE", &pod))?;
    }
    // An error of a body that cannot be read may quote it, at most by 300 characters.
    let mut broken = review("u", ("", "Pod"), "CREATE", &pod);
    broken["request"]["object"]["spec"]["containers"][0]["env"] = json!(SECRET.repeat(1_000));
    let answer = server.post("/mutate", broken.to_string().as_bytes())?;
    same("status", 400, answer.status)?;
    let lines = end(server)?;
    assert!(!denials(&lines).is_empty(), "{lines:?}");
    for line in &lines {
        let text = line.to_string();
        let quoted =
            line["fields"]["message"] == "refused a request: its body is not a valid AdmissionReview";
        assert!(if quoted { text.len() < 700 } else { !text.contains(SECRET) }, "{text}");
    }
    Ok(())
}

fn admin_port() -> Outcome {
    let server = Server::start(
        &[("profiles.yaml", PROFILE)],
        &["--profiles", "profiles.yaml", "--workloads", "deny", "--network-objects", "enforce"],
    )?;
    let labels = |text: &str| -> BTreeMap<String, usize> {
        let series = text.lines().filter(|line| !line.starts_with('#'));
        let mut found = BTreeMap::new();
        for name in series.filter_map(|line| line.split(['{', ' ']).next()) {
            *found.entry(name.to_owned()).or_insert(0) += 1;
        }
        found
    };
    let mut known = BTreeMap::new();
    for round in 0..20 {
        let word = format!("{SECRET}-{round}");
        let template = json!({"metadata": pod_of(&word)["metadata"], "spec": pod_of(&word)["spec"]});
        for (path, kind, object) in [
            ("/mutate", ("", "Pod"), pod_of(&word)),
            ("/validate", ("", "Pod"), pod_of(&word)),
            ("/audit", ("", "Pod"), pod_of(&word)),
            ("/validate-networks", ("", "Pod"), pod_of(&word)),
            (
                "/validate-workload",
                ("batch", "Job"),
                json!({"metadata": {"name": word}, "spec": {"template": template}}),
            ),
            (
                "/validate-object",
                ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
                json!({"metadata": {"name": word}, "spec": {"config": word}}),
            ),
            (
                "/validate-object",
                ("fabric-admission.dev", "FabricProfile"),
                json!({"metadata": {"name": word}, "spec": {"base": word}}),
            ),
            (&*format!("/{word}"), (&*word, &*word), json!({})),
        ] {
            let mut body = review(&word, kind, "CREATE", &object);
            body["request"]["namespace"] = json!(word);
            body["request"]["userInfo"] = json!({"username": word});
            server.post(path, body.to_string().as_bytes())?;
        }
        let mut texts = String::new();
        for path in ["/metrics", "/readyz", "/livez"] {
            texts.push_str(&server.admin(path)?.body);
        }
        assert!(!texts.contains(SECRET), "{texts}");
        let now = labels(&server.admin("/metrics")?.body);
        // What other callers send makes no series.
        if round == 0 {
            known = now;
        } else {
            same("series", &known, &now)?;
        }
    }
    Ok(())
}

fn redirects() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let body = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
    for path in [
        "/",
        "//",
        "/mutate/",
        "//mutate",
        "/mutate/..",
        "/mutate/../mutate",
        "/./mutate",
        "/MUTATE",
        "/%6dutate",
        "/mutate%2f",
        "//example.com/mutate",
        "/mutate?to=//example.com",
        "/mutate#a",
        "http://example.com/mutate",
        "*",
    ] {
        for method in ["POST", "GET", "OPTIONS", "PUT"] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let answer = server.client()?.send(head.as_bytes(), body.as_bytes())?;
            let moved = answer.head.to_ascii_lowercase().contains("location:");
            assert!(!(300..400).contains(&answer.status) && !moved, "{method} {path}: {}", answer.head);
        }
    }
    for path in ["/", "/metrics/", "//metrics", "/readyz/", "/livez/../metrics"] {
        let status = server.admin(path)?.status;
        assert!(!(300..400).contains(&status), "{path}: {status}");
    }
    Ok(())
}

fn headers() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let body = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
    let ask = |more: &str| {
        let head = format!(
            "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n",
            body.len()
        );
        server.client()?.send(head.as_bytes(), body.as_bytes()).map(|answer| answer.status)
    };
    same("twenty headers", 200, ask(&"X-A: b\r\n".repeat(20))?)?;
    same("two hundred headers", 431, ask(&"X-A: b\r\n".repeat(200))?)?;
    // The server answers and closes before the client has written all: the client may notice only the closed connection.
    if let Ok(status) = ask(&format!("X-A: {}\r\n", "b".repeat(1 << 20))) {
        same("a long header", 431, status)?;
    }
    same("the next request", 200, ask("")?).map_err(Into::into)
}

/// A profile of another tenant, by its name alone.
fn profiles() -> Outcome {
    let other = "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {name: other-team}\n\
        spec: {base: roce-sriov, namespaces: {matchLabels: {kubernetes.io/metadata.name: bank}}}\n";
    let mut answers = Vec::new();
    for profiles in [PROFILE.to_owned(), format!("{PROFILE}---\n{other}")] {
        let server = Server::start(
            &[("profiles.yaml", &profiles)],
            &["--profiles", "profiles.yaml", "--workloads", "deny"],
        )?;
        let mut pod = bare_pod();
        pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!("other-team");
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
            "spec": {"template": {"metadata": pod["metadata"], "spec": pod["spec"]}}});
        let mut of_one = Vec::new();
        for (path, kind, object) in [
            ("/mutate", ("", "Pod"), &pod),
            ("/validate", ("", "Pod"), &pod),
            ("/audit", ("", "Pod"), &pod),
            ("/validate-workload", ("batch", "Job"), &job),
        ] {
            let answer = server.post(path, review("u", kind, "CREATE", object).to_string().as_bytes())?;
            of_one.push((path, answer.untimed()?.to_string()));
        }
        answers.push(of_one);
    }
    assert!(answers[0].iter().all(|(_, text)| text.contains("FAB804")), "{answers:?}");
    same("the answers", &answers[0], &answers[1]).map_err(Into::into)
}

fn mark() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let pod = bare_pod();
    let honest = ask(&server, "/mutate", &review("u", ("", "Pod"), "CREATE", &pod))?;
    let fitted = patched(&pod, &honest)?;
    let real = fitted["metadata"]["annotations"]["fabric-admission.dev/injected"].clone();
    for forged in [real, json!("h100@0000000000000000"), json!("true"), json!("other@1")] {
        let mut pod = pod.clone();
        pod["metadata"]["annotations"]["fabric-admission.dev/injected"] = forged;
        let answer = ask(&server, "/mutate", &review("u", ("", "Pod"), "CREATE", &pod))?;
        same("the pod that is stored", &fitted, &patched(&pod, &answer)?)?;
        let last = ask(&server, "/validate", &review("u", ("", "Pod"), "CREATE", &pod))?;
        assert!(last["response"]["allowed"] == false && last.to_string().contains("FAB802"), "{last}");
    }
    Ok(())
}

/// The kubelet makes mirror pods of the manifests on its node; the API server refuses a change of them.
fn mirror() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["kubernetes.io/config.mirror"] = json!("0123");
    for path in ["/mutate", "/validate"] {
        let answer = ask(&server, path, &review("u", ("", "Pod"), "CREATE", &pod))?;
        let response = &answer["response"];
        assert!(response["allowed"] == true && response.get("patch").is_none(), "{path}: {answer}");
    }
    Ok(())
}

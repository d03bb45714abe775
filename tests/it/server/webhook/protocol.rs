//! AdmissionReview v1 to the letter, and everything that is none.

use crate::support::server::{PROFILE, Server, bare_pod, patched, review};
use crate::support::suite::{Need, Outcome, Suite};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::statuses", statuses);
    suite.add("webhook::mutate_then_validate", mutate_then_validate);
    suite.add("webhook::validate_refuses_what_mutate_missed", missed);
    suite.add("webhook::audit_changes_and_denies_nothing", audit);
    suite.add("webhook::objects", objects);
    suite.add("webhook::network_objects_off", objects_off);
    suite.add("webhook::metrics", metrics);
    suite.add("webhook::tls_versions", tls_versions);
    if let Some(shared) = suite.need(Need::Shared, "webhook::recorded") {
        for (name, profile) in [("plain", false), ("with_profile", true)] {
            let shared = shared.clone();
            suite.add(format!("webhook::recorded::{name}"), move || recorded(shared, profile));
        }
    }
}

fn server(args: &[&str]) -> Result<Server, String> {
    let mut all = vec!["--profiles", "profiles.yaml"];
    all.extend(args);
    Server::start(&[("profiles.yaml", PROFILE)], &all)
}

fn send(server: &Server, path: &str, review: &Value) -> Result<Value, String> {
    let answer = server.post(path, review.to_string().as_bytes())?;
    if answer.status == 200 { answer.json() } else { Err(format!("{}: {}", answer.status, answer.body)) }
}

fn statuses() -> Outcome {
    let server = server(&[])?;
    let request = |method: &str, path: &str, content_type: &str, body: &[u8]| -> Result<u16, String> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        Ok(server.client()?.send(head.as_bytes(), body)?.status)
    };
    let good = review("u", ("", "Pod"), "CREATE", &bare_pod());
    let variant = |edit: &dyn Fn(&mut Value)| {
        let mut review = good.clone();
        edit(&mut review);
        review.to_string().into_bytes()
    };
    let json = "application/json";
    let cases: Vec<(&str, u16, u16)> = vec![
        ("whole", 200, request("POST", "/mutate", json, good.to_string().as_bytes())?),
        (
            "charset",
            200,
            request("POST", "/mutate", "application/json; charset=utf-8", good.to_string().as_bytes())?,
        ),
        ("not JSON", 400, request("POST", "/mutate", json, b"{")?),
        ("empty", 400, request("POST", "/mutate", json, b"")?),
        ("not UTF-8", 400, request("POST", "/mutate", json, b"\xff\xfe")?),
        ("another kind", 400, request("POST", "/mutate", json, br#"{"apiVersion":"v1","kind":"Pod"}"#)?),
        (
            "v1beta1",
            400,
            request(
                "POST",
                "/mutate",
                json,
                &variant(&|r| r["apiVersion"] = json!("admission.k8s.io/v1beta1")),
            )?,
        ),
        ("no request", 400, request("POST", "/mutate", json, &variant(&|r| r["request"] = Value::Null))?),
        ("no uid", 400, request("POST", "/mutate", json, &variant(&|r| r["request"]["uid"] = json!("")))?),
        (
            "null object",
            400,
            request("POST", "/mutate", json, &variant(&|r| r["request"]["object"] = Value::Null))?,
        ),
        (
            "wrong type in the pod",
            400,
            request("POST", "/mutate", json, &variant(&|r| r["request"]["object"]["spec"] = json!(1)))?,
        ),
        ("no such path", 404, request("POST", "/", json, b"{}")?),
        ("method", 405, request("GET", "/mutate", json, b"")?),
        ("content type", 415, request("POST", "/mutate", "text/plain", b"{}")?),
        ("9 MiB", 413, request("POST", "/mutate", json, &vec![b' '; 9 << 20])?),
    ];
    let wrong: Vec<_> = cases.iter().filter(|(_, expected, actual)| expected != actual).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:?}").into()) }
}

fn mutate_then_validate() -> Outcome {
    let server = server(&[])?;
    let pod = bare_pod();
    let answer = send(&server, "/mutate", &review("mutate-1", ("", "Pod"), "CREATE", &pod))?;
    let response = &answer["response"];
    assert_eq!(
        (&answer["apiVersion"], &answer["kind"]),
        (&json!("admission.k8s.io/v1"), &json!("AdmissionReview"))
    );
    assert_eq!((&response["uid"], &response["allowed"]), (&json!("mutate-1"), &json!(true)));
    assert_eq!(response["patchType"], "JSONPatch");
    let warnings = response["warnings"].as_array().ok_or("no warnings")?;
    assert!(
        warnings.iter().any(|w| w.as_str().unwrap_or_default().contains("injected networks")),
        "{warnings:?}"
    );
    let fitted = patched(&pod, &answer)?;
    let container = &fitted["spec"]["containers"][0];
    assert_eq!(container["resources"]["limits"]["nvidia.com/sriov_resource"], "8");
    assert_eq!(container["securityContext"]["capabilities"]["add"], json!(["IPC_LOCK"]));
    // Reinvoked, it has nothing to add, and says so by leaving both fields out.
    let again = send(&server, "/mutate", &review("mutate-2", ("", "Pod"), "CREATE", &fitted))?;
    assert!(
        again["response"].get("patch").is_none() && again["response"].get("patchType").is_none(),
        "{again}"
    );
    let last = send(&server, "/validate", &review("validate-1", ("", "Pod"), "CREATE", &fitted))?;
    assert_eq!(last["response"]["allowed"], true, "{last}");
    assert!(last["response"].get("patch").is_none());
    assert_eq!(last["response"]["auditAnnotations"]["profile"], "h100");
    Ok(())
}

fn missed() -> Outcome {
    let server = server(&[])?;
    let answer = send(&server, "/validate", &review("v", ("", "Pod"), "CREATE", &bare_pod()))?;
    let status = &answer["response"]["status"];
    assert_eq!(answer["response"]["allowed"], false);
    assert_eq!((&status["code"], &status["reason"]), (&json!(403), &json!("Forbidden")));
    let message = status["message"].as_str().ok_or("no message")?;
    assert!(message.lines().next().is_some_and(|l| l.contains("FAB802") && l.len() <= 300), "{message}");
    assert!(status.get("details").is_none());
    Ok(())
}

fn audit() -> Outcome {
    let server = server(&[])?;
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = json!("[null]");
    let broken = send(&server, "/audit", &review("a", ("", "Pod"), "CREATE", &pod))?;
    assert_eq!(broken["response"]["allowed"], true);
    assert!(broken["response"]["warnings"].to_string().contains("FAB101"), "{broken}");
    let bare = send(&server, "/audit", &review("a", ("", "Pod"), "CREATE", &bare_pod()))?;
    assert!(bare["response"].get("patch").is_none());
    assert!(bare["response"]["warnings"].to_string().contains("would inject networks"), "{bare}");
    // The mutating entry refuses the same pod: no later webhook can correct an annotation that cannot be read.
    let denied = send(&server, "/mutate", &review("m", ("", "Pod"), "CREATE", &pod))?;
    assert_eq!(denied["response"]["allowed"], false);
    Ok(())
}

fn policy(device_type: &str, num_vfs: u32) -> Value {
    json!({
        "apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": "p", "namespace": "sriov"},
        "spec": {"deviceType": device_type, "isRdma": true, "numVfs": num_vfs}
    })
}

fn objects() -> Outcome {
    let kind = ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy");
    let server = server(&["--network-objects", "enforce"])?;
    let ask = |operation: &str, object: &Value, old: Value| {
        let mut review = review("o", kind, operation, object);
        review["request"]["oldObject"] = old;
        send(&server, "/validate-object", &review).map(|a| a["response"]["allowed"] == true)
    };
    let (bad, good) = (policy("vfio-pci", 8), policy("netdevice", 8));
    assert!(!ask("CREATE", &bad, Value::Null)?, "a new bad policy");
    assert!(ask("CREATE", &good, Value::Null)?, "a new good policy");
    assert!(!ask("UPDATE", &bad, good.clone())?, "a policy that turns bad");
    assert!(ask("UPDATE", &policy("vfio-pci", 4), bad.clone())?, "a bad policy that changes otherwise");
    let mut unfinalized = bad.clone();
    unfinalized["metadata"]["finalizers"] = json!([]);
    assert!(ask("UPDATE", &unfinalized, bad.clone())?, "only metadata changes");
    // Whatever is being deleted still counts until its finalizers are gone.
    let mut leaving = bad.clone();
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert!(!ask("UPDATE", &leaving, good)?, "an object that is being deleted turns bad");
    assert!(!ask("CREATE", &leaving, Value::Null)?, "a new bad policy with a deletionTimestamp");
    let mut finalized = leaving.clone();
    finalized["metadata"]["finalizers"] = json!(["example.com/f"]);
    assert!(ask("UPDATE", &leaving, finalized)?, "the last finalizer of a bad policy");
    let mut delete = review("o", kind, "DELETE", &Value::Null);
    delete["request"]["oldObject"] = bad;
    assert_eq!(send(&server, "/validate-object", &delete)?["response"]["allowed"], true, "DELETE");
    Ok(())
}

fn objects_off() -> Outcome {
    let kind = ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy");
    for (setting, warned) in [("off", false), ("audit", true)] {
        let server = server(&["--network-objects", setting])?;
        let answer = send(&server, "/validate-object", &review("o", kind, "CREATE", &policy("vfio-pci", 8)))?;
        assert_eq!(answer["response"]["allowed"], true, "{setting}");
        assert_eq!(answer["response"].get("warnings").is_some(), warned, "{setting}: {answer}");
        // What is switched off looks at no object, and so finds none missing; who asks it must still be an API server.
        let empty = review("o", kind, "CREATE", &Value::Null).to_string();
        let answer = server.post("/validate-object", empty.as_bytes())?;
        assert_eq!(answer.status, if warned { 400 } else { 200 }, "{setting}: {}", answer.body);
        assert_eq!(server.post("/validate-object", b"{}")?.status, 400, "{setting}");
        let count = |result: &str| {
            server.metric(&format!(
                "fabric_admission_requests_total{{entry=\"objects\",mode=\"audit\",result=\"{result}\"}}"
            ))
        };
        let (out, bad) = (count("out_of_scope")?, count("bad_request")?);
        assert_eq!((out, bad), if warned { (0.0, 2.0) } else { (2.0, 1.0) }, "{setting}");
    }
    Ok(())
}

fn metrics() -> Outcome {
    let server = server(&[])?;
    send(&server, "/mutate", &review("m", ("", "Pod"), "CREATE", &bare_pod()))?;
    send(&server, "/mutate", &review("m", ("", "ConfigMap"), "CREATE", &json!({})))?;
    let text = server.admin("/metrics")?.body;
    for line in [
        "fabric_admission_requests_total{entry=\"mutate\",mode=\"enforce\",result=\"mutated\"} 1",
        "fabric_admission_requests_total{entry=\"mutate\",mode=\"enforce\",result=\"out_of_scope\"} 1",
        "fabric_admission_request_duration_seconds_bucket{le=\"0.00005\",entry=\"mutate\"}",
        "fabric_admission_tls_handshakes_total{result=\"ok\"} 2",
        "fabric_admission_build_info{version=",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    assert_eq!(server.admin("/livez")?.status, 200);
    assert_eq!(server.admin("/readyz")?.status, 200);
    assert_eq!(server.admin("/mutate")?.status, 404);
    Ok(())
}

fn tls_versions() -> Outcome {
    for (args, spoken) in [(&[][..], false), (&["--tls-min-version", "1.2"][..], true)] {
        let server = server(args)?;
        let ca = server.scratch.path().join("tls/ca.crt");
        let old =
            crate::support::server::Client::connect_with(server.webhook, &ca, &[&rustls::version::TLS12]);
        assert_eq!(old.is_ok(), spoken, "{args:?}: TLS 1.2 {:?}", old.err());
        assert!(
            crate::support::server::Client::connect_with(server.webhook, &ca, &[&rustls::version::TLS13])
                .is_ok()
        );
    }
    Ok(())
}

/// Bodies as a real API server sent them, to every path. With a profile named, a pod creation must come back
/// fitted, and everything else untouched.
fn recorded(shared: PathBuf, profile: bool) -> Outcome {
    let server = server(&[])?;
    let directory = shared.join("data/admissionreviews");
    let names: Vec<String> =
        crate::support::names(&directory).into_iter().filter(|n| n.ends_with(".json")).collect();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        let text = crate::support::read(&directory.join(&name))?;
        let mut review: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        if profile {
            review["request"]["object"]["metadata"]["annotations"]["fabric-admission.dev/profile"] =
                json!("h100");
        }
        let request = review["request"].clone();
        let creates_pod = request["kind"]["kind"] == "Pod"
            && request["operation"] == "CREATE"
            && request.get("subResource").is_none();
        for path in
            ["/mutate", "/validate", "/audit", "/validate-workload", "/validate-networks", "/validate-object"]
        {
            let answer =
                server.post(path, if profile { review.to_string() } else { text.clone() }.as_bytes())?;
            assert_eq!(answer.status, 200, "{name} {path}: {}", answer.body);
            let answer = answer.json()?;
            let response = &answer["response"];
            assert_eq!(response["uid"], request["uid"], "{name} {path}");
            assert_eq!(response.get("patch").is_some(), response.get("patchType").is_some());
            let mutates = path == "/mutate"
                && creates_pod
                && profile
                && request["object"].to_string().contains("nvidia.com/gpu");
            assert_eq!(response.get("patch").is_some(), mutates, "{name} {path}: {answer}");
            if mutates {
                let fitted = patched(&request["object"], &answer)?;
                assert!(
                    fitted["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
                        .to_string()
                        .contains("rail")
                );
                assert_eq!(
                    fitted["metadata"]["managedFields"],
                    request["object"]["metadata"]["managedFields"]
                );
            }
            if !(path == "/validate" && creates_pod && profile) {
                assert_eq!(response["allowed"], true, "{name} {path}: {answer}");
            }
        }
    }
    Ok(())
}

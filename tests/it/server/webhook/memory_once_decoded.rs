//! Bodies whose entries take many times their length while they are decided: memory stays bounded however many come at
//! once, and a body that alone would take too much is refused in words.

use crate::support::Scratch;
use crate::support::server::{PROFILE, Server, bare_pod, certificate, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::bodies_of_many_entries_stay_within_their_memory", together);
    suite.add("webhook::the_dearest_bodies_stay_within_a_real_limit", limited);
    suite.add("webhook::a_body_of_too_many_entries_is_refused", alone);
    suite.add("webhook::a_body_of_too_many_escapes_is_refused", escaped);
    suite.add("webhook::a_body_of_much_white_space_is_refused", spaced);
    suite.add("webhook::a_name_without_end_is_refused", named);
}

fn arguments(n: usize) -> Vec<u8> {
    let mut pod = bare_pod();
    pod["spec"]["containers"][0]["args"] = vec![""; n].into();
    review("u", ("", "Pod"), "CREATE", &pod).to_string().into_bytes()
}

/// A JobSet whose templates have so many containers without any field: half a kilobyte for three bytes.
fn hollow(n: usize) -> Vec<u8> {
    const EACH: usize = 9_000;
    let mut containers = vec![json!({}); EACH];
    containers[0] = json!({"name": "a", "image": "b", "resources": {"limits": {"nvidia.com/gpu": 8}}});
    let template = json!({"spec": {"template": {"spec": {"containers": containers}}}});
    let jobs: Vec<Value> =
        (0..n / EACH).map(|i| json!({"name": format!("j{i}"), "template": template})).collect();
    let object = json!({"metadata": {"name": "a"}, "spec": {"replicatedJobs": jobs}});
    review("u", ("jobset.x-k8s.io", "JobSet"), "CREATE", &object).to_string().into_bytes()
}

/// A pod, or a JobSet of so many templates, whose networks annotation has so many entries without any field, or one long
/// name.
fn annotated(templates: usize, entries: usize) -> Vec<u8> {
    let networks =
        if entries > 0 { format!("[{}null]", "null,".repeat(entries)) } else { "a".repeat(250_000) };
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = networks.into();
    if templates < 2 {
        return review("u", ("", "Pod"), "CREATE", &pod).to_string().into_bytes();
    }
    let job = |i: usize| json!({"name": format!("j{i}"), "template": {"spec": {"template": pod}}});
    let jobs: Vec<Value> = (0..templates).map(job).collect();
    let object = json!({"metadata": {"name": "a"}, "spec": {"replicatedJobs": jobs}});
    review("u", ("jobset.x-k8s.io", "JobSet"), "CREATE", &object).to_string().into_bytes()
}

fn server() -> Result<Server, String> {
    Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])
}

fn alone() -> Outcome {
    let server = server()?;
    for (path, body) in [("/mutate", arguments(1_000_000)), ("/validate-workload", hollow(400_000))] {
        let answer = server.post(path, &body)?;
        assert_eq!(answer.status, 413, "{path}: {}", answer.body);
        assert!(answer.body.contains("entries") && answer.body.contains("at most 64 MiB"), "{}", answer.body);
    }
    // Some hundred times as many as in a large pod.
    assert_eq!(server.post("/mutate", &arguments(200_000))?.status, 200);
    // JSON in a text is decoded too.
    let answer = server.post("/mutate", &annotated(1, 800_000))?;
    assert_eq!(answer.status, 413, "{}", answer.body);
    Ok(())
}

fn escaped() -> Outcome {
    let server = server()?;
    let of = |escapes: usize| {
        let mut pod = bare_pod();
        pod["spec"]["containers"][0]["args"] = json!(["sh", "-c", "a\n".repeat(escapes)]);
        review("u", ("", "Pod"), "CREATE", &pod).to_string().into_bytes()
    };
    let answer = server.post("/mutate", &of(310_000))?;
    assert_eq!(answer.status, 413, "{}", answer.body);
    assert!(answer.body.contains("at most 300000 escape sequences"), "{}", answer.body);
    assert_eq!(server.metric("fabric_admission_shed_total{reason=\"too_large\"}")?, 1.0);
    assert_eq!(server.post("/mutate", &of(290_000))?.status, 200);
    // Each text with one is copied.
    let of = |texts: usize| {
        let mut pod = bare_pod();
        pod["spec"]["containers"][0]["args"] = vec!["a\n"; texts].into();
        review("u", ("", "Pod"), "CREATE", &pod).to_string().into_bytes()
    };
    let answer = server.post("/mutate", &of(51_000))?;
    assert_eq!(answer.status, 413, "{}", answer.body);
    assert!(answer.body.contains("in at most 50000 texts"), "{}", answer.body);
    assert_eq!(server.post("/mutate", &of(49_000))?.status, 200);
    Ok(())
}

fn spaced() -> Outcome {
    let server = server()?;
    let of = |bytes: usize| {
        let review = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
        // Between two values, and in a text, where spaces do not count.
        let text = format!("\"object\":{}{{\"comment\":\"{}\",", " ".repeat(bytes), " ".repeat(1 << 20));
        review.replacen("\"object\":{", &text, 1).into_bytes()
    };
    let answer = server.post("/mutate", &of((1 << 20) + 1))?;
    assert_eq!(answer.status, 413, "{}", answer.body);
    assert!(answer.body.contains("1048577 bytes of white space"), "{}", answer.body);
    assert_eq!(server.metric("fabric_admission_shed_total{reason=\"too_large\"}")?, 1.0);
    assert_eq!(server.post("/mutate", &of(1 << 20))?.status, 200);
    Ok(())
}

fn named() -> Outcome {
    let server = server()?;
    let of = |length: usize| {
        let mut review = review("u", ("", "Pod"), "CREATE", &bare_pod());
        review["request"]["name"] = "n".repeat(length).into();
        review["request"]["namespace"] = "team".into();
        // In the order of an API server: the name, the namespace, the object.
        let request = review["request"].as_object().cloned().unwrap_or_default();
        let mut first: Vec<(&String, &Value)> = request.iter().collect();
        first.sort_by_key(|(key, _)| match key.as_str() {
            "name" => 0,
            "namespace" => 1,
            _ => 2,
        });
        let members: Vec<String> = first.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!(
            r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{{}}}}}"#,
            members.join(",")
        )
        .into_bytes()
    };
    let answer = server.post("/mutate", &of(100_000))?;
    assert_eq!(answer.status, 413, "{}", answer.body);
    assert!(answer.body.contains("names have at most 253 bytes"), "{}", answer.body);
    assert_eq!(server.metric("fabric_admission_shed_total{reason=\"too_large\"}")?, 1.0);
    assert_eq!(server.post("/mutate", &of(60_000))?.status, 200);
    Ok(())
}

fn together() -> Outcome {
    // The C library of this build keeps the memory of each thread for itself; that of the shipped one does not.
    let scratch = Scratch::new()?;
    scratch.write("profiles.yaml", PROFILE)?;
    certificate(&scratch.path().join("tls"))?;
    let server = Server::start_with(scratch, &["--profiles", "profiles.yaml"], &[("MALLOC_ARENA_MAX", "1")])?;
    let before = server.status("VmHWM").unwrap_or_default();
    let bodies = [("/mutate", arguments(200_000)), ("/validate-workload", hollow(100_000))];
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = |i: usize| {
            let (path, body) = &bodies[i % 2];
            server.post(path, body).map_or(0, |answer| answer.status)
        };
        let running: Vec<_> = (0..12).map(|i| scope.spawn(move || ask(i))).collect();
        running.into_iter().map(|r| r.join().unwrap_or_default()).collect()
    });
    // This build is slow: some are not decided in time.
    assert!(statuses.iter().all(|s| [200, 503, 504].contains(s)) && statuses.contains(&200), "{statuses:?}");
    let more = server.status("VmHWM").unwrap_or_default().saturating_sub(before) / 1024;
    eprintln!("12 bodies of many entries at once: {statuses:?}, {more} MiB");
    // What decisions may take, the bodies and answers, and as much again as these for what lies between.
    assert!(more < 96 + 32 + 32, "{more} MiB");
    Ok(())
}

/// The same bodies with a limit of the system on the address space: an allocation beyond it ends the process.
fn limited() -> Outcome {
    let idle = Server::start_after(ONE_ARENA, &[])?.status("VmSize").ok_or("only on Linux")?;
    // Decisions, bodies and answers, what lies between, and stacks of threads.
    let limit = idle + ((96 + 32 + 32) << 10);
    let server = Server::start_after(&format!("{ONE_ARENA}; ulimit -v {limit}"), &[])?;
    let bodies = [
        ("/mutate", arguments(200_000)),
        ("/validate-workload", hollow(100_000)),
        ("/validate-workload", annotated(30, 0)),
        ("/mutate", annotated(1, 160_000)),
    ];
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = |i: usize| {
            let (path, body) = &bodies[i % 4];
            (0..2).map(|_| server.post(path, body).map_or(0, |answer| answer.status)).collect::<Vec<_>>()
        };
        let running: Vec<_> = (0..12).map(|i| scope.spawn(move || ask(i))).collect();
        running.into_iter().flat_map(|r| r.join().unwrap_or_default()).collect()
    });
    eprintln!("{} MiB of address space, {} when idle: {statuses:?}", limit >> 10, idle >> 10);
    assert!(statuses.iter().all(|s| [200, 503, 504].contains(s)) && statuses.contains(&200), "{statuses:?}");
    assert_eq!(server.admin("/livez")?.status, 200);
    Ok(())
}

/// The C library of this build reserves address space for each thread otherwise; that of the shipped one does not.
const ONE_ARENA: &str = "export MALLOC_ARENA_MAX=1";

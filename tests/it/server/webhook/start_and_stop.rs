//! What stops the server before it listens, and how it ends.

use crate::support::server::{Client, Server, certificate};
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, run};
use std::net::TcpListener;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::bad_certificates_are_named_before_the_port_is_bound", bad_certificates);
    suite.add("webhook::a_port_in_use_is_named", port_in_use);
    suite.add("webhook::broken_profiles_keep_it_from_starting", broken_profiles);
    suite.add("webhook::each_background_task_has_a_failure_count", tasks);
    suite.add("webhook::lame_duck_then_end", lame_duck);
    suite.add("webhook::idle_connections_are_served_while_it_drains", idle_while_draining);
    suite.add("webhook::the_drain_ends_at_its_deadline", drain_deadline);
    suite.add("webhook::a_second_signal_ends_at_once", second_signal);
}

fn bad_certificates() -> Outcome {
    let scratch = Scratch::new()?;
    certificate(&scratch.path().join("a"))?;
    certificate(&scratch.path().join("b"))?;
    scratch.write("garbage", "no PEM")?;
    for (cert, key, expected) in [
        ("a/tls.crt", "b/tls.key", "b/tls.key is not the key of the certificate in a/tls.crt"),
        ("missing", "a/tls.key", "cannot read missing: No such file"),
        ("garbage", "a/tls.key", "garbage: contains no certificate"),
        ("a/tls.crt", "garbage", "garbage: contains no usable private key"),
        ("a/tls.crt", "a/tls.crt", "contains no usable private key"),
    ] {
        let args = [
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--admin-bind",
            "127.0.0.1:0",
            "--tls-cert",
            cert,
            "--tls-key",
            key,
        ];
        let ran = run(&args, b"", scratch.path())?;
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.contains(expected) && !ran.stderr.contains("listening"),
            "{expected}: {}",
            ran.stderr
        );
    }
    let ran = run(&["serve"], b"", scratch.path())?;
    assert!(ran.code == 2 && ran.stderr.contains("--tls-cert"), "{}", ran.stderr);
    Ok(())
}

fn port_in_use() -> Outcome {
    let scratch = Scratch::new()?;
    certificate(scratch.path())?;
    let taken = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = taken.local_addr().map_err(|e| e.to_string())?.to_string();
    let args = [
        "serve",
        "--bind",
        &address,
        "--admin-bind",
        "127.0.0.1:0",
        "--tls-cert",
        "tls.crt",
        "--tls-key",
        "tls.key",
    ];
    let ran = run(&args, b"", scratch.path())?;
    assert!(
        ran.code == 3 && ran.stderr.contains(&format!("cannot listen on {address}")),
        "{}: {}",
        ran.code,
        ran.stderr
    );
    Ok(())
}

fn broken_profiles() -> Outcome {
    let scratch = Scratch::new()?;
    certificate(scratch.path())?;
    scratch.write("profiles/good.yaml", crate::support::server::PROFILE)?;
    scratch.write("profiles/bad.yaml", crate::support::server::PROFILE.replace("base:", "bsae:"))?;
    let args = ["serve", "--tls-cert", "tls.crt", "--tls-key", "tls.key", "--profiles", "profiles"];
    let ran = run(&args, b"", scratch.path())?;
    assert!(ran.code == 2 && ran.stderr.contains("profiles/bad.yaml:4:"), "{}: {}", ran.code, ran.stderr);
    Ok(())
}

/// A task is counted from its start, so that its first failure is a rise.
fn tasks() -> Outcome {
    let server = Server::start(&[], &[])?;
    let metrics = server.admin("/metrics")?.body;
    for task in ["admin", "certificates", "log", "signals"] {
        let line = format!("fabric_admission_task_failures_total{{task=\"{task}\"}} 0");
        assert!(metrics.lines().any(|l| l == line), "{line}");
    }
    assert_eq!(server.admin("/readyz")?.body.trim_end(), "ok");
    Ok(())
}

fn lame_duck() -> Outcome {
    let mut server = Server::start(&[], &["--lame-duck", "1.5"])?;
    let mut open = server.client()?;
    let before = open.post("/mutate", b"{}")?;
    assert!(!before.closes());
    server.signal("-TERM")?;
    let end = Instant::now() + Duration::from_secs(5);
    while server.admin("/readyz")?.status == 200 {
        assert!(Instant::now() < end, "still ready");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.admin("/livez")?.status, 200);
    // An open connection is answered and closed; a new one is still taken: endpoints lag behind.
    let during = open.post("/mutate", b"{}")?;
    assert!(during.status == 400 && during.closes(), "{during:?}");
    let fresh = server.client()?.post("/mutate", b"{}")?;
    assert!(fresh.status == 400 && fresh.closes());
    assert_eq!(server.wait(Duration::from_secs(20))?, 0);
    let ca = server.scratch.path().join("tls/ca.crt");
    assert!(Client::connect(server.webhook, &ca).is_err());
    Ok(())
}

/// An API server may take an idle connection for a call at any time, and does not send a POST again.
fn idle_while_draining() -> Outcome {
    let mut server = Server::start(&[], &["--lame-duck", "0.2"])?;
    let ca = server.scratch.path().join("tls/ca.crt");
    let (mut used, mut unused) = (server.client()?, server.client()?);
    assert!(!used.post("/mutate", b"{}")?.closes());
    server.signal("-TERM")?;
    let end = Instant::now() + Duration::from_secs(10);
    while Client::connect(server.webhook, &ca).is_ok() {
        assert!(Instant::now() < end, "connections are still taken");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(2));
    for (client, what) in [(&mut used, "one that was used"), (&mut unused, "one that was not")] {
        let answer = client.post("/mutate", b"{}").map_err(|e| format!("{what}: {e}"))?;
        assert!(answer.status == 400 && answer.closes(), "{what}: {answer:?}");
    }
    // Nothing is left to wait for.
    assert_eq!(server.wait(Duration::from_secs(5))?, 0);
    Ok(())
}

fn drain_deadline() -> Outcome {
    let mut server = Server::start(&[], &["--lame-duck", "0", "--drain", "1"])?;
    let (mut used, _unused) = (server.client()?, server.client()?);
    used.post("/mutate", b"{}")?;
    let reported = Instant::now();
    server.signal("-TERM")?;
    assert_eq!(server.wait(Duration::from_secs(20))?, 0);
    assert!((1..10).contains(&reported.elapsed().as_secs()), "{:?}", reported.elapsed());
    Ok(())
}

fn second_signal() -> Outcome {
    let mut server = Server::start(&[], &["--lame-duck", "60"])?;
    let _open = server.client()?;
    server.signal("-TERM")?;
    std::thread::sleep(Duration::from_millis(300));
    server.signal("-TERM")?;
    assert_eq!(server.wait(Duration::from_secs(10))?, 0);
    Ok(())
}

//! Disks that are full and files that cannot be read: what was loaded serves on. The server writes no file of its own,
//! so a full disk can only keep it from its log.

use super::requests_over_budget_get_503::until;
use crate::support::Scratch;
use crate::support::server::{PROFILE, Server, bare_pod, certificate, review};
use crate::support::suite::{Outcome, Suite};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::a_log_that_cannot_be_written_does_no_harm", no_log);
    suite.add("webhook::files_that_cannot_be_read_leave_all_as_it_was", unreadable);
}

/// Answers of each kind, each of which is logged in some way.
fn answers(server: &Server) -> Result<(), String> {
    let review = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
    for (path, body, status) in
        [("/mutate", review.as_str(), 200), ("/validate", &review, 200), ("/mutate", "{", 400)]
    {
        let answer = server.post(path, body.as_bytes())?;
        if answer.status != status {
            return Err(format!("{path}: {} {}", answer.status, answer.body));
        }
    }
    Ok(())
}

fn no_log() -> Outcome {
    let free = || -> Result<SocketAddr, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        listener.local_addr().map_err(|e| e.to_string())
    };
    // A device without room, and a pipe that nobody reads any more.
    for full in [true, false] {
        let scratch = Scratch::new()?;
        scratch.write("profiles.yaml", PROFILE)?;
        certificate(&scratch.path().join("tls"))?;
        let (webhook, admin) = (free()?, free()?);
        let stderr = if full {
            let device = std::fs::OpenOptions::new().write(true).open("/dev/full");
            Stdio::from(device.map_err(|e| e.to_string())?)
        } else {
            Stdio::piped()
        };
        let args = ["--profiles", "profiles.yaml", "--lame-duck", "0", "--tls-poll", "0.1"];
        let binds = [webhook.to_string(), admin.to_string()];
        let mut child = Server::command(&scratch, [&binds[0], &binds[1]], &args)
            .env("FABRIC_ADMISSION_LOG", "debug")
            .stderr(stderr)
            .spawn()
            .map_err(|e| e.to_string())?;
        drop(child.stderr.take());
        let mut server = Server { child, webhook, admin, scratch };
        until("it is ready", || Ok(server.admin("/readyz").is_ok_and(|a| a.status == 200)))?;
        for _ in 0..20 {
            answers(&server)?;
        }
        server.scratch.write("tls/tls.key", "garbage")?;
        let failed = "fabric_admission_certificate_reloads_total{result=\"failed\"}";
        until("the wrong key is seen", || Ok(server.metric(failed)? >= 2.0))?;
        answers(&server)?;
        assert_eq!(server.metric("fabric_admission_panics_total")?, 0.0);
        server.signal("-TERM")?;
        assert_eq!(server.wait(Duration::from_secs(15))?, 0, "full: {full}");
    }
    Ok(())
}

fn unreadable() -> Outcome {
    let args = ["--profiles", "profiles", "--facts-poll", "0.1", "--tls-poll", "0.1"];
    let server = Server::start(&[("profiles/h100.yaml", PROFILE)], &args)?;
    let at = |name: &str| server.scratch.path().join(name);
    let count =
        |what: &str| server.metric(&format!("fabric_admission_{what}_reloads_total{{result=\"failed\"}}"));
    answers(&server)?;
    let (good_key, good_certificate) =
        (crate::support::read(&at("tls/tls.key"))?, crate::support::read(&at("tls/tls.crt"))?);
    // Reading this fails whoever asks, with the error of a disk.
    for name in ["profiles/h100.yaml", "tls/tls.crt", "tls/tls.key"] {
        std::fs::remove_file(at(name)).map_err(|e| e.to_string())?;
        symlink("/proc/self/mem", at(name)).map_err(|e| e.to_string())?;
    }
    until("both are reported", || Ok(count("certificate")? >= 2.0 && count("facts")? >= 1.0))?;
    answers(&server)?;
    // The whole volume goes.
    for directory in ["profiles", "tls"] {
        std::fs::rename(at(directory), at(&format!("{directory}-gone"))).map_err(|e| e.to_string())?;
    }
    let before = count("certificate")?;
    until("it is looked at again", || Ok(count("certificate")? > before + 1.0))?;
    // The certificate in use is still the first one.
    server.scratch.write("tls/ca.crt", crate::support::read(&at("tls-gone/ca.crt"))?)?;
    answers(&server)?;
    assert_eq!(server.admin("/readyz")?.status, 200);
    // And it heals.
    let other = PROFILE.replace("name: h100", "name: h200");
    server.scratch.write("profiles/h100.yaml", &other)?;
    server.scratch.write("tls/tls.crt", &good_certificate)?;
    server.scratch.write("tls/tls.key", &good_key)?;
    let ok = || server.metric("fabric_admission_facts_reloads_total{result=\"ok\"}");
    until("profiles are read again", || Ok(ok()? >= 1.0))?;
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = serde_json::json!("h200");
    let answer = server.post("/mutate", review("u", ("", "Pod"), "CREATE", &pod).to_string().as_bytes())?;
    assert!(answer.body.contains("\"patch\""), "{}", answer.body);
    Ok(())
}

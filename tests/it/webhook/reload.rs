//! Certificates: a Secret volume is swapped by renaming a symlink, three times in a row.

use super::{Client, Server, certificate};
use crate::suite::{Outcome, Suite};
use crate::support::Scratch;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::three_secret_swaps", three_swaps);
    suite.add("webhook::a_bad_pair_keeps_the_last_good_one", bad_pair);
    suite.add("webhook::open_connections_live_through_a_reload", open_connections);
}

/// Kubelet's AtomicWriter: files are links into `..data`, and `..data` is replaced by rename.
fn publish(volume: &Path, generation: &str) -> Result<(), String> {
    let data = volume.join(generation);
    certificate(&data)?;
    swap(volume, generation)?;
    for file in ["ca.crt", "tls.crt", "tls.key"] {
        let link = volume.join(file);
        if !link.exists() {
            symlink(Path::new("..data").join(file), link).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

fn swap(volume: &Path, generation: &str) -> Result<(), String> {
    let temporary = volume.join("..data_tmp");
    symlink(generation, &temporary).map_err(|e| e.to_string())?;
    std::fs::rename(&temporary, volume.join("..data")).map_err(|e| e.to_string())
}

fn start() -> Result<Server, String> {
    let scratch = Scratch::new()?;
    std::fs::create_dir_all(scratch.path().join("tls")).map_err(|e| e.to_string())?;
    publish(&scratch.path().join("tls"), "..one")?;
    Server::start_in(scratch, &["--tls-poll", "0.1"])
}

/// Waits until the server shows a certificate of this CA.
fn trusted(server: &Server, ca: &Path) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        match Client::connect(server.webhook, ca) {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > end => return Err(format!("{}: {error}", ca.display())),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn three_swaps() -> Outcome {
    let server = start()?;
    let volume = server.scratch.path().join("tls");
    trusted(&server, &volume.join("..one/ca.crt"))?;
    for (old, new) in [("..one", "..two"), ("..two", "..three"), ("..three", "..four")] {
        publish(&volume, new)?;
        trusted(&server, &volume.join(new).join("ca.crt"))?;
        assert!(
            Client::connect(server.webhook, &volume.join(old).join("ca.crt")).is_err(),
            "{old} is still shown"
        );
        std::fs::remove_dir_all(volume.join(old)).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn bad_pair() -> Outcome {
    let server = start()?;
    let volume = server.scratch.path().join("tls");
    // A key that belongs to another certificate, then garbage, then nothing at all.
    certificate(&volume.join("..bad"))?;
    std::fs::copy(volume.join("..one/tls.key"), volume.join("..bad/tls.key")).map_err(|e| e.to_string())?;
    swap(&volume, "..bad")?;
    std::thread::sleep(Duration::from_millis(400));
    trusted(&server, &volume.join("..one/ca.crt"))?;
    std::fs::write(volume.join("..bad/tls.crt"), "garbage").map_err(|e| e.to_string())?;
    std::thread::sleep(Duration::from_millis(400));
    trusted(&server, &volume.join("..one/ca.crt"))?;
    std::fs::remove_file(volume.join("..bad/tls.crt")).map_err(|e| e.to_string())?;
    std::thread::sleep(Duration::from_millis(400));
    trusted(&server, &volume.join("..one/ca.crt"))?;
    let metrics = server.admin("/metrics")?.body;
    assert!(metrics.contains("certificate_reloads_total{result=\"failed\"}"), "{metrics}");
    // And it heals.
    publish(&volume, "..good")?;
    trusted(&server, &volume.join("..good/ca.crt"))?;
    Ok(())
}

fn open_connections() -> Outcome {
    let server = start()?;
    let volume = server.scratch.path().join("tls");
    let mut open = Client::connect(server.webhook, &volume.join("ca.crt"))?;
    assert_eq!(open.post("/mutate", b"{}")?.status, 400);
    publish(&volume, "..two")?;
    trusted(&server, &volume.join("..two/ca.crt"))?;
    assert_eq!(open.post("/mutate", b"{}")?.status, 400);
    Ok(())
}

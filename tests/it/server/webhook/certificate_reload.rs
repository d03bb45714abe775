//! Certificates: a Secret volume is swapped by renaming a symlink, three times in a row.

use crate::support::Scratch;
use crate::support::server::{Client, Server, certificate};
use crate::support::suite::{Outcome, Suite};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::three_secret_swaps", three_swaps);
    suite.add("webhook::a_bad_pair_keeps_the_last_good_one", bad_pair);
    suite.add("webhook::handshakes_go_on_while_certificates_change", handshakes);
    suite.add("webhook::a_certificate_that_has_expired_is_not_ready", expired);
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

/// A certificate for these years, which signs itself.
fn dated(directory: &Path, from: i32, until: i32) -> Result<(), String> {
    let key = rcgen::KeyPair::generate().map_err(|e| e.to_string())?;
    let mut params =
        rcgen::CertificateParams::new(vec!["localhost".to_owned()]).map_err(|e| e.to_string())?;
    params.not_before = rcgen::date_time_ymd(from, 1, 1);
    params.not_after = rcgen::date_time_ymd(until, 1, 1);
    let made = params.self_signed(&key).map_err(|e| e.to_string())?;
    std::fs::create_dir_all(directory).map_err(|e| e.to_string())?;
    for (file, text) in [("tls.crt", made.pem()), ("tls.key", key.serialize_pem()), ("ca.crt", made.pem())] {
        std::fs::write(directory.join(file), text).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Of certificate files, only the dates are known; a certificate that nobody believes is not ready, and heals.
fn expired() -> Outcome {
    let scratch = Scratch::new()?;
    let files = scratch.path().join("tls");
    dated(&files, 2020, 2021)?;
    let server = Server::start_in(scratch, &["--tls-poll", "0.1"])?;
    let says = |status: u16, words: &str| -> Result<(), String> {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let answer = server.admin("/readyz")?;
            if answer.status == status && answer.body.contains(words) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!("{status} {words} is expected: {} {}", answer.status, answer.body));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let first = server.admin("/readyz")?;
    assert_eq!((first.status, first.body.contains("tls.crt has expired")), (503, true), "{}", first.body);
    assert_eq!(server.admin("/livez")?.status, 200);
    dated(&files, 2020, 2100)?;
    says(200, "ok")?;
    dated(&files, 2099, 2100)?;
    says(503, "not valid yet")?;
    dated(&files, 1960, 2030)?;
    says(200, "less than a tenth")?;
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

/// As many handshakes as four clients make, while the files are swapped twenty times a second.
fn handshakes() -> Outcome {
    let scratch = Scratch::new()?;
    let volume = scratch.path().join("tls");
    std::fs::create_dir_all(&volume).map_err(|e| e.to_string())?;
    publish(&volume, "..one")?;
    publish(&volume, "..two")?;
    let ca = |of: &str| std::fs::read_to_string(volume.join(of).join("ca.crt")).map_err(|e| e.to_string());
    let both =
        scratch.write("both.crt", ca("..one")? + &ca("..two")?).map(|()| scratch.path().join("both.crt"))?;
    let server = Server::start_in(scratch, &["--tls-poll", "0.05"])?;
    let volume = server.scratch.path().join("tls");
    let (start, most) = (Instant::now(), Duration::from_secs(4));
    let counts: Vec<Result<usize, String>> = std::thread::scope(|scope| {
        let swapping = scope.spawn(|| -> Result<usize, String> {
            let mut swaps = 0;
            while start.elapsed() < most {
                for generation in ["..one", "..two"] {
                    swap(&volume, generation)?;
                    swaps += 1;
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
            Ok(swaps)
        });
        let client = || -> Result<usize, String> {
            let mut done = 0;
            while start.elapsed() < most {
                Client::connect(server.webhook, &both)?;
                done += 1;
            }
            Ok(done)
        };
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(client)).collect();
        std::iter::once(swapping).chain(clients).map(|t| t.join().expect("no thread panics")).collect()
    });
    let counts = counts.into_iter().collect::<Result<Vec<usize>, String>>()?;
    let metrics = server.admin("/metrics")?.body;
    let value = |name: &str| {
        let line = metrics.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<usize>().ok());
        line.unwrap_or(0)
    };
    let reloads = value("fabric_admission_certificate_reloads_total{result=\"ok\"}");
    let done: usize = counts[1..].iter().sum();
    eprintln!("{done} handshakes in {most:?}, none failed, over {reloads} reloads and {} swaps", counts[0]);
    assert_eq!(value("fabric_admission_tls_handshakes_total{result=\"failed\"}"), 0);
    // A busy machine makes fewer; a handful would show nothing.
    assert!(reloads > 5 && done > 50, "{reloads} {done}");
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

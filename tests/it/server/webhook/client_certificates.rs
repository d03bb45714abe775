//! `--client-ca` and `--client-name`: who has not the right certificate gets no further than the handshake.

use crate::support::client_authority::{Authority, Identity};
use crate::support::round_trip::documents;
use crate::support::server::{Client, Server, certificate, review, trusting};
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, run};
use rcgen::ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;
use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::client_certificates_are_asked_for", asked_for);
    suite.add("webhook::findings_about_other_objects_need_a_client_certificate", about_others);
    suite.add("webhook::the_client_ca_is_looked_at_again", looked_at_again);
    suite.add("webhook::a_bad_client_ca_is_named_before_the_port_is_bound", bad_settings);
}

const NAME: &str = "api-server.example.com";
const URI: &str = "spiffe://example.com/api-server";

fn start(ca: &str, args: &[&str]) -> Result<Server, String> {
    start_with(ca, &[], args)
}

fn start_with(ca: &str, files: &[(&str, &str)], args: &[&str]) -> Result<Server, String> {
    let mut all = vec!["--client-ca", "client-ca.crt", "--client-name", NAME, "--client-name", URI];
    all.extend(args);
    Server::start(&[&[("client-ca.crt", ca)], files].concat(), &all)
}

/// The status of an answer to a client with this certificate, or why there is none.
fn status(
    server: &Server,
    identity: Option<&Identity>,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<u16, String> {
    Ok(connect(server, identity, versions)?.post("/mutate", b"{}")?.status)
}

/// A client that the server has not refused.
fn connect(
    server: &Server,
    identity: Option<&Identity>,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<Client, String> {
    let trusting = trusting(&server.scratch.path().join("tls/ca.crt"), versions)?;
    let config = match identity {
        None => trusting.with_no_client_auth(),
        Some(identity) => {
            let chain = vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
            trusting.with_client_auth_cert(chain, key).map_err(|e| e.to_string())?
        }
    };
    let socket = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
    // With TLS 1.3 the client has ended its part before it hears that it is refused.
    let mut client = Client::over(socket, config)?;
    client.stream.sock.set_read_timeout(Some(Duration::from_millis(300))).map_err(|e| e.to_string())?;
    match client.stream.read(&mut [0]) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
        reported => return Err(format!("{reported:?}")),
    }
    client.stream.sock.set_read_timeout(Some(Duration::from_secs(5))).map_err(|e| e.to_string())?;
    Ok(client)
}

/// Rules that compare a network object with others, or with nodes: the API server that has shown its certificate gets what
/// they find. Anyone else gets what the object shows by itself.
fn about_others() -> Outcome {
    let authority = Authority::new()?;
    let identity = authority.client(NAME)?;
    for id in ["FAB325", "FAB326", "FAB327", "FAB328", "FAB329", "FAB338", "FAB339"] {
        let rule = fabric_admission::rules::find_rule(id).ok_or(id)?;
        let objects: Vec<Value> =
            documents(rule.files.bad.as_bytes()).into_iter().map(|(_, object)| object).collect();
        let files = [("facts.yaml", rule.files.bad)];
        let args = ["--network-objects", "enforce", "--cluster", "facts.yaml"];
        let (closed, open) = (start_with(&authority.pem, &files, &args)?, Server::start(&files, &args)?);
        let mut refused = false;
        for object in &objects {
            let api = object["apiVersion"].as_str().unwrap_or_default();
            let kind = (
                api.split_once('/').map_or("", |(group, _)| group),
                object["kind"].as_str().unwrap_or_default(),
            );
            let body = review("u", kind, "CREATE", object).to_string();
            let mut client = connect(&closed, Some(&identity), rustls::DEFAULT_VERSIONS)?;
            let told = client.post("/validate-object", body.as_bytes())?.json()?["response"].clone();
            refused |= told["allowed"] == false && told.to_string().contains(id);
            let anyone = open.post("/validate-object", body.as_bytes())?.json()?["response"].clone();
            assert!(!anyone.to_string().contains(id), "{anyone}");
        }
        assert!(refused, "{id} is not found");
    }
    Ok(())
}

fn asked_for() -> Outcome {
    let (ours, other) = (Authority::new()?, Authority::new()?);
    let server = start(&ours.pem, &["--tls-min-version", "1.2"])?;
    let refused = || server.metric("fabric_admission_tls_handshakes_total{result=\"client_refused\"}");
    let mut count = 0.0;
    for versions in [&[&rustls::version::TLS13][..], &[&rustls::version::TLS12]] {
        for good in [ours.client(NAME)?, ours.sign("somebody", Some(URI), ClientAuth)?] {
            assert_eq!(status(&server, Some(&good), versions)?, 400);
        }
        let wrong = [
            ("none", None, "CertificateRequired"),
            ("another name", Some(ours.client("kubelet")?), "AccessDenied"),
            ("a longer name", Some(ours.client(&format!("{NAME}.evil.example"))?), "AccessDenied"),
            (
                "another URI",
                Some(ours.sign("x", Some("spiffe://example.com/api"), ClientAuth)?),
                "AccessDenied",
            ),
            ("another authority", Some(other.client(NAME)?), "UnknownCA"),
            ("a server's", Some(ours.sign(NAME, None, ServerAuth)?), "UnsupportedCertificate"),
        ];
        for (what, identity, alert) in &wrong {
            let answer = status(&server, identity.as_ref(), versions);
            let reported = answer
                .as_ref()
                .is_err_and(|error| error.contains(alert) || error.contains("HandshakeFailure"));
            assert!(reported, "{what}, {versions:?}: {answer:?}");
            count += 1.0;
            // The alert goes out first; it is counted when the handshake has ended.
            let end = Instant::now() + Duration::from_secs(5);
            while refused()? != count {
                assert!(Instant::now() < end, "{what}: {} are counted, not {count}", refused()?);
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
    // None of them was heard.
    let metrics = server.admin("/metrics")?.body;
    // A client that is refused makes no series.
    let mut decisions = metrics.lines().filter(|line| line.contains("namespace_decisions_total{"));
    assert!(decisions.all(|line| line.ends_with(" 0")), "{metrics}");
    assert!(
        metrics.contains("requests_total{entry=\"mutate\",mode=\"enforce\",result=\"bad_request\"} 4\n"),
        "{metrics}"
    );
    Ok(())
}

fn looked_at_again() -> Outcome {
    let (before, after) = (Authority::new()?, Authority::new()?);
    let server = start(&before.pem, &["--tls-poll", "0.1"])?;
    let answers =
        |authority: &Authority| status(&server, Some(&authority.client(NAME)?), rustls::DEFAULT_VERSIONS);
    assert_eq!(answers(&before)?, 400);
    let until = |what: &str, holds: &dyn Fn() -> Result<bool, String>| -> Result<(), String> {
        let end = Instant::now() + Duration::from_secs(10);
        while !holds()? {
            if Instant::now() > end {
                return Err(format!("not so: {what}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    };
    // What cannot be used changes nothing.
    server.scratch.write("client-ca.crt", "garbage")?;
    let failed = "fabric_admission_client_ca_reloads_total{result=\"failed\"}";
    until("the garbage is seen", &|| Ok(server.metric(failed)? >= 1.0))?;
    assert_eq!(answers(&before)?, 400);
    // Both, for the time in between, then the new one alone.
    server.scratch.write("client-ca.crt", format!("{}{}", before.pem, after.pem))?;
    until("the new authority counts", &|| Ok(answers(&after) == Ok(400)))?;
    assert_eq!(answers(&before)?, 400);
    server.scratch.write("client-ca.crt", &after.pem)?;
    until("the old authority counts no longer", &|| Ok(answers(&before).is_err()))?;
    assert_eq!(answers(&after)?, 400);
    Ok(())
}

fn bad_settings() -> Outcome {
    let scratch = Scratch::new()?;
    certificate(scratch.path())?;
    scratch.write("garbage", "no PEM")?;
    let tls = [
        "serve",
        "--bind",
        "127.0.0.1:0",
        "--admin-bind",
        "127.0.0.1:0",
        "--tls-cert",
        "tls.crt",
        "--tls-key",
        "tls.key",
    ];
    for (more, expected) in [
        (&["--client-ca", "missing", "--client-name", "n"][..], "cannot read missing: No such file"),
        (&["--client-ca", "garbage", "--client-name", "n"], "garbage: contains no certificate"),
        (&["--client-ca", "ca.crt"], "--client-name"),
        (&["--client-name", "n"], "--client-ca"),
        (&["--client-ca", "ca.crt", "--client-name", ""], "--client-name"),
    ] {
        let ran = run(&[&tls[..], more].concat(), b"", scratch.path())?;
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{more:?}: {} {}", ran.code, ran.stderr);
    }
    Ok(())
}

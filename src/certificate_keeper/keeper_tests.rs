//! Rounds against an API server that is made up: what it refuses, and what others do between a write and the next look.

use super::certificate_metrics::Metrics;
use super::keeper_settings::{CertificateIssuer, Settings};
use super::memory_across_restarts_of_task::KeptMemory;
use super::own_port_answers_that_end_readiness::OwnPort;
use super::own_port_handshake::tests::stranger;
use super::round::Keeper;
use super::{CertificateReadiness, Clock};
use crate::certificates::Lifetimes;
use crate::cluster::secret_and_webhook_configurations::{CertificateObjectNames, CertificateObjects};
use crate::tls::ServedCertificate;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch as channel;

const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m";
const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v";

#[derive(Default)]
struct Store {
    objects: BTreeMap<String, Value>,
    version: u64,
    /// A method that is answered with an error.
    refused: Option<(&'static str, u16)>,
    /// Whether somebody puts a caBundle back at once.
    reverts: bool,
    calls: BTreeMap<String, u32>,
}

impl Store {
    fn put(&mut self, path: &str, mut object: Value) -> (u16, Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(path.to_owned(), object.clone());
        (200, object)
    }

    fn answer(&mut self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        *self.calls.entry(method.to_owned()).or_default() += 1;
        if let Some((_, code)) = self.refused.filter(|(refused, _)| *refused == method) {
            return (code, Value::Null);
        }
        let found = self.objects.get(path).cloned();
        match (method, found) {
            ("GET", Some(object)) => (200, object),
            ("POST", _) => {
                let object: Value = serde_json::from_slice(body).unwrap();
                let path = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
                self.put(&path, object)
            }
            ("PUT", Some(_)) => self.put(path, serde_json::from_slice(body).unwrap()),
            ("PATCH", Some(old)) => {
                let mut object = old.clone();
                let patch: json_patch::Patch = serde_json::from_slice(body).unwrap();
                if json_patch::patch(&mut object, &patch).is_err() {
                    return (422, Value::Null);
                }
                let answer = self.put(path, object);
                if self.reverts { self.put(path, old) } else { answer }
            }
            _ => (404, Value::Null),
        }
    }
}

struct Scene {
    store: Arc<Mutex<Store>>,
    keeper: Keeper,
    standing: CertificateReadiness,
    metrics: Arc<Metrics>,
    stop: channel::Sender<bool>,
    start: Box<dyn Fn(Option<OwnPort>) -> Keeper>,
}

impl Scene {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(address: Option<SocketAddr>) -> Self {
        let (stop, stopping) = channel::channel(false);
        let port = address.map(|address| OwnPort { address, closes: Arc::new(move || *stopping.borrow()) });
        let mut store = Store::default();
        for path in [MUTATING, VALIDATING] {
            let config = json!({"service": {"namespace": "n", "name": "s", "path": "/p"}});
            store.put(path, json!({"metadata": {}, "webhooks": [{"name": "w.x", "clientConfig": config}]}));
        }
        let store = Arc::new(Mutex::new(store));
        let answers = Arc::clone(&store);
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let store = Arc::clone(&answers);
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let (code, answer) =
                    store.lock().unwrap().answer(parts.method.as_str(), parts.uri.path(), &body);
                let status = json!({"kind": "Status", "status": "Failure", "code": code,
                                    "message": "because", "reason": "Conflict"});
                let body = if code == 200 { answer } else { status };
                let body = Body::from(body.to_string().into_bytes());
                Ok::<_, io::Error>(http::Response::builder().status(code).body(body).unwrap())
            }
        });
        let client = kube::Client::new(service, "n");
        let name = |text: &str| text.to_owned();
        let names = CertificateObjectNames {
            namespace: name("n"),
            secret: name("s"),
            mutating: name("m"),
            validating: name("v"),
        };
        let settings = Settings {
            ca_out: None,
            identity: name("r"),
            client: client.clone(),
            mode: CertificateIssuer::SelfManaged,
            names: names.clone(),
            hosts: vec![name("s.n.svc")],
            lives: Lifetimes::DEFAULT,
            clock: Clock::default(),
        };
        let (standing, metrics) = (CertificateReadiness::waiting(), Arc::new(Metrics::default()));
        let objects = CertificateObjects { client, names };
        let (served, kept) = (Arc::<ServedCertificate>::default(), KeptMemory::default());
        let (shown, counted) = (standing.clone(), Arc::clone(&metrics));
        let start = move |port| {
            let (objects, settings) = (objects.clone(), settings.clone());
            let (served, metrics) = (Arc::clone(&served), Arc::clone(&counted));
            Keeper::new(objects, settings, port, served, shown.clone(), metrics, kept.clone())
        };
        let keeper = start(port);
        Self { store, keeper, standing, metrics, stop, start: Box::new(start) }
    }

    async fn rounds(&mut self, count: u32) {
        for _ in 0..count {
            self.keeper.run_one_round().await;
        }
    }

    fn described(&self) -> String {
        let (problems, remarks) = self.standing.problems_and_remarks();
        [problems, remarks].concat().join("\n")
    }

    fn calls(&self, method: &str) -> u32 {
        self.store.lock().unwrap().calls.get(method).copied().unwrap_or(0)
    }

    fn made(&self, kind: &str) -> Vec<Value> {
        let store = self.store.lock().unwrap();
        store
            .objects
            .iter()
            .filter(|(path, _)| path.contains(kind))
            .map(|(_, object)| object.clone())
            .collect()
    }

    /// Of the Events, which are made on the side.
    async fn reasons(&self) -> Vec<String> {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        let of = |event: &Value| {
            assert_eq!(event["regarding"]["name"], "s", "{event}");
            event["reason"].as_str().unwrap().to_owned()
        };
        let mut reasons: Vec<String> = self.made("events").iter().map(of).collect();
        reasons.sort();
        reasons
    }

    fn counts(&self, metric: &str) -> bool {
        self.metrics.text().lines().any(|line| line.starts_with(metric) && !line.ends_with(" 0"))
    }
}

/// As an admission policy or another writer that is always faster does.
#[tokio::test]
async fn a_cabundle_that_is_refused_again_and_again_is_reported_and_written_slowly() {
    for code in [404, 409, 422] {
        let mut scene = Scene::new();
        scene.store.lock().unwrap().refused = Some(("PATCH", code));
        scene.rounds(40).await;
        let text = scene.described();
        assert!(text.contains(&format!("correcting the caBundle failed: {code}: because")), "{text}");
        assert!(scene.calls("PATCH") <= 10, "{} patches", scene.calls("PATCH"));
        assert!(scene.counts("fabric_admission_certificate_conflicts_total{call=\"publish\"}"));
        assert!(scene.counts("fabric_admission_certificate_failures_total{call=\"publish\"}"));
    }
}

#[tokio::test]
async fn a_secret_that_is_refused_again_and_again_is_reported() {
    let mut scene = Scene::new();
    scene.store.lock().unwrap().refused = Some(("POST", 409));
    scene.rounds(20).await;
    let text = scene.described();
    assert!(text.contains("writing Secret n/s failed (create): 409: because"), "{text}");
    assert!(scene.counts("fabric_admission_certificate_conflicts_total{call=\"secret\"}"));
}

#[tokio::test]
async fn a_cabundle_that_is_changed_before_it_is_read_back_is_a_fight() {
    let mut scene = Scene::new();
    scene.store.lock().unwrap().reverts = true;
    scene.rounds(60).await;
    let text = scene.described();
    assert!(text.contains("another client keeps changing the caBundle"), "{text}");
    assert!(scene.calls("PATCH") <= 14, "{} patches", scene.calls("PATCH"));
    assert!(scene.counts("fabric_admission_cabundle_reverts_total"));
    assert!(!scene.counts("fabric_admission_cabundle_in_sync"));
    // One Event of each reason, however often it happens.
    assert_eq!(scene.reasons().await, ["CaBundleChangedByOthers", "CaBundlePutBack"]);
}

/// Where another process has our port, or an old certificate is served for whatever reason.
#[tokio::test]
async fn a_port_that_serves_another_certificate_is_not_ready() {
    let (port, _) = stranger().await;
    let mut scene = Scene::with(Some(port));
    scene.rounds(8).await;
    let text = scene.described();
    assert!(text.contains("presents a certificate that is not the server's"), "{text}");
    assert!(scene.counts("fabric_admission_certificate_failures_total{call=\"dial\"}"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap();
    drop(listener);
    let mut scene = Scene::with(Some(port));
    scene.rounds(8).await;
    assert!(scene.described().contains("does not answer TLS handshakes"), "{}", scene.described());
    assert_eq!(scene.keeper.pause_before_recheck_of_own_port(), Some(Duration::from_secs(10)));
}

/// While we stop nobody listens any more, and that is as it should be.
#[tokio::test]
async fn our_own_port_is_not_asked_while_we_stop() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap();
    drop(listener);
    let mut scene = Scene::with(Some(port));
    scene.stop.send(true).unwrap();
    scene.rounds(8).await;
    assert!(!scene.described().contains("own port"), "{}", scene.described());
    assert_eq!(scene.keeper.pause_before_recheck_of_own_port(), None);
}

#[tokio::test]
async fn a_ca_that_cannot_sign_is_replaced_with_an_event() {
    let mut scene = Scene::new();
    scene.rounds(6).await;
    assert_eq!(scene.reasons().await, Vec::<String>::new());
    let secret = "/api/v1/namespaces/n/secrets/s";
    let mut object = scene.made(secret).remove(0);
    let known = object["data"]["current.crt"].clone();
    object["data"]["current.key"] = json!("");
    scene.store.lock().unwrap().put(secret, object);
    scene.rounds(6).await;
    assert_eq!(scene.reasons().await, ["AuthorityReplaced"]);
    assert_eq!(scene.made(secret)[0]["data"]["previous.crt"], known);
}

/// A write that is refused once is retried, and nothing is reported.
#[tokio::test]
async fn one_conflict_is_no_fault() {
    let mut scene = Scene::new();
    scene.store.lock().unwrap().refused = Some(("PATCH", 409));
    scene.rounds(3).await;
    scene.store.lock().unwrap().refused = None;
    scene.rounds(6).await;
    let text = scene.described();
    assert!(!text.contains("written"), "{text}");
    assert!(scene.counts("fabric_admission_cabundle_in_sync"), "{text}");
}

/// A clock that a test sets.
fn hours(scene: &mut Scene, hours: i64) -> std::path::PathBuf {
    // Tests run at once in one process.
    static CLOCKS: AtomicU32 = AtomicU32::new(0);
    let nth = CLOCKS.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("keeper-clock-{}-{nth}", std::process::id()));
    std::fs::write(&file, (hours * 3600).to_string()).unwrap();
    scene.keeper.replace_clock(Clock { offset: Some(file.clone()) });
    file
}

/// What keeps one replica from renewing keeps all of them; while the chain verifies nobody is helped by their going.
#[tokio::test]
async fn a_leaf_that_cannot_be_renewed_is_reported_and_ready_while_it_is_trusted() {
    let mut scene = Scene::new();
    scene.rounds(6).await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    scene.rounds(1).await;
    assert_eq!(scene.standing.problems_and_remarks().0, Vec::<String>::new());
    // The CA of the Secret is gone, and nobody may write another. That of the leaf is gone with a caBundle.
    let secret = "/api/v1/namespaces/n/secrets/s";
    let mut object = scene.made(secret).remove(0);
    object["data"]["current.key"] = json!("");
    scene.store.lock().unwrap().put(secret, object);
    scene.store.lock().unwrap().refused = Some(("PUT", 403));
    scene.keeper.forget_known_ca();
    let file = hours(&mut scene, 66);
    scene.rounds(3).await;
    let (problems, remarks) = scene.standing.problems_and_remarks();
    assert_eq!(problems, Vec::<String>::new());
    assert!(remarks.iter().any(|line| line.contains("its renewal fails")), "{remarks:?}");
    assert!(scene.counts("fabric_admission_leaf_renewal_overdue"));
    assert_eq!(scene.reasons().await, ["CertificateNotRenewed"]);
    std::fs::write(&file, (72 * 3600 - 1200).to_string()).unwrap();
    scene.rounds(1).await;
    let (problems, _) = scene.standing.problems_and_remarks();
    assert!(problems.iter().any(|line| line.contains("its renewal fails")), "{problems:?}");
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn without_a_secret_the_ca_in_use_signs_once_more() {
    let mut scene = Scene::new();
    scene.rounds(6).await;
    let secret = "/api/v1/namespaces/n/secrets/s";
    for spoilt in [true, false] {
        if spoilt {
            let mut object = scene.made(secret).remove(0);
            object["data"] = json!({"current.crt": "eA=="});
            scene.store.lock().unwrap().put(secret, object);
            scene.store.lock().unwrap().refused = Some(("PUT", 403));
        } else {
            scene.store.lock().unwrap().objects.remove(secret);
            scene.store.lock().unwrap().refused = Some(("POST", 403));
        }
        let file = hours(&mut scene, if spoilt { 66 } else { 132 });
        scene.rounds(3).await;
        let text = scene.described();
        assert!(!text.contains("its renewal fails"), "{text}");
        assert!(text.contains("403"), "{text}");
        std::fs::remove_file(file).unwrap();
    }
    assert!(scene.counts("fabric_admission_cert_rotations_total{kind=\"leaf\",reason=\"last_resort\"} 2"));
}

/// A task that died of a bug is followed by one that knows what is served, and is ready at once.
#[tokio::test]
async fn a_keeper_that_is_started_again_keeps_the_leaf_and_the_pace_of_emergencies() {
    let mut scene = Scene::new();
    scene.rounds(6).await;
    tokio::time::sleep(Duration::from_millis(2100)).await;
    scene.rounds(1).await;
    assert_eq!(scene.standing.problems_and_remarks().0, Vec::<String>::new());
    scene.keeper = (scene.start)(None);
    scene.rounds(1).await;
    assert_eq!(scene.standing.problems_and_remarks().0, Vec::<String>::new());
    let secret = "/api/v1/namespaces/n/secrets/s";
    for _ in 0..20 {
        let mut object = scene.made(secret).remove(0);
        object["data"]["current.key"] = json!("");
        scene.store.lock().unwrap().put(secret, object);
        scene.keeper = (scene.start)(None);
        scene.rounds(2).await;
    }
    let writes = scene.calls("PUT");
    assert!((6..=8).contains(&writes), "{writes} emergencies");
}

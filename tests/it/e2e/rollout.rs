//! Three replicas behind a balancer are replaced one after another, under creates through the real API server: none of
//! them fails, and none is let in unchanged.

use super::support::api::Api;
use super::support::balancer::Balancer;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, rendered, training_pod, with_url};
use super::trial;
use crate::support::server::{PROFILE, Server, certificate};
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, read};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "three_replicas_are_replaced_under_load", rollout);
}

const REPLICAS: usize = 3;
/// Creates in a second, and connections that they go over.
const RATE: u32 = 100;
const CONNECTIONS: usize = 24;

/// How often all replicas are replaced, how long connections are taken after SIGTERM, how long after it a replica is still
/// an endpoint, and whether it ends by itself.
fn size() -> (usize, &'static str, Duration, bool) {
    match std::env::var("FABRIC_ADMISSION_ROLLOUTS").ok().and_then(|n| n.parse().ok()) {
        Some(rounds) => (rounds, "5", Duration::from_secs(2), true),
        None => (1, "2", Duration::from_millis(800), false),
    }
}

/// Replicas with one certificate, behind one address.
pub(super) struct Fleet<'a> {
    plane: &'a Plane,
    pub(super) balancer: Balancer,
    tls: Scratch,
    lame_duck: &'static str,
}

impl<'a> Fleet<'a> {
    pub(super) fn new(plane: &'a Plane, lame_duck: &'static str) -> Result<Self, String> {
        let tls = Scratch::new()?;
        certificate(tls.path())?;
        Ok(Self { plane, balancer: Balancer::start()?, tls, lame_duck })
    }

    /// A replica that is ready.
    pub(super) fn replica(&self) -> Result<Server, String> {
        let scratch = Scratch::new()?;
        scratch.write("profiles.yaml", PROFILE)?;
        for file in ["tls.crt", "tls.key", "ca.crt"] {
            scratch.write(&format!("tls/{file}"), read(&self.file(file))?)?;
        }
        let args = ["--profiles", "profiles.yaml", "--lame-duck", self.lame_duck];
        let server = Server::start_in(scratch, &args)?;
        self.plane.until("the replica is ready", Duration::from_secs(10), || {
            Ok(server.admin("/readyz")?.status == 200)
        })?;
        Ok(server)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.tls.path().join(name)
    }

    /// Points every webhook at the balancer.
    pub(super) fn install(&self) -> Result<(), String> {
        let (ca, address) =
            (read(&self.file("ca.crt"))?, format!("localhost:{}", self.balancer.address.port()));
        for object in rendered(self.plane, "base")? {
            if object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")) {
                self.plane.apply(&with_url(object, &|_| address.clone(), &ca)?.to_string())?;
            }
        }
        Ok(())
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        let kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
        let _ = self.plane.kubectl(&["delete", kinds, "--all", "--wait=true"], "");
    }
}

/// Creates at a steady rate, however long the answers take, until it is stopped.
pub(super) struct Creates<'a> {
    pub(super) plane: &'a Plane,
    pub(super) namespace: &'a str,
    pub(super) over: AtomicBool,
    next: AtomicU32,
    /// By how it ended; all but `created` are failures.
    pub(super) outcomes: Mutex<BTreeMap<String, usize>>,
    slowest: Mutex<Duration>,
}

impl<'a> Creates<'a> {
    pub(super) fn new(plane: &'a Plane, namespace: &'a str) -> Self {
        Self {
            plane,
            namespace,
            over: AtomicBool::new(false),
            next: AtomicU32::new(0),
            outcomes: Mutex::default(),
            slowest: Mutex::default(),
        }
    }

    /// One connection's part of them.
    pub(super) fn work(&self, started: Instant) {
        let path = format!("/api/v1/namespaces/{}/pods?dryRun=All", self.namespace);
        let body = training_pod("rollout").to_string();
        let mut api: Option<Api> = None;
        while !self.over.load(Ordering::SeqCst) {
            let due = started + Duration::from_secs(1) / RATE * self.next.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let asked = Instant::now();
            let answered = match api.take() {
                Some(api) => Ok(api),
                None => Api::connect(self.plane),
            }
            .and_then(|mut open| {
                let answer = open.ask("POST", &path, &body)?;
                if !answer.closes() {
                    api = Some(open);
                }
                Ok(answer)
            });
            let outcome = match answered {
                // All eight rails: the mutating call has not been passed over.
                Ok(answer) if answer.status == 201 && answer.body.contains("rail7") => "created".to_owned(),
                Ok(answer) if answer.status == 201 => "created as it was".to_owned(),
                Ok(answer) => format!("{} {}", answer.status, answer.body),
                Err(error) => error,
            };
            let mut slowest = self.slowest.lock().unwrap();
            *slowest = asked.elapsed().max(*slowest);
            *self.outcomes.lock().unwrap().entry(outcome).or_default() += 1;
        }
    }
}

fn rollout(plane: &Plane) -> Outcome {
    let (rounds, lame_duck, lag, alone) = size();
    let fleet = Fleet::new(plane, lame_duck)?;
    let mut replicas: Vec<Server> = (0..REPLICAS).map(|_| fleet.replica()).collect::<Result<_, _>>()?;
    let mut stopping: Vec<(Server, Instant)> = Vec::new();
    let endpoints = |replicas: &[Server]| replicas.iter().map(|r| r.webhook).collect::<Vec<SocketAddr>>();
    fleet.balancer.set(endpoints(&replicas));
    fleet.install()?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut api = Api::connect(plane)?;
    plane.until("the configurations are taken up", Duration::from_secs(30), || {
        let path = format!("/api/v1/namespaces/{namespace}/pods?dryRun=All");
        let answer = api.ask("POST", &path, &training_pod("canary").to_string())?;
        Ok(answer.body.contains("rail7"))
    })?;
    let (creates, started) = (Creates::new(plane, &namespace), Instant::now());
    let took = std::thread::scope(|scope| -> Result<Duration, String> {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| creates.work(started));
        }
        let mut story = || -> Result<(), String> {
            std::thread::sleep(Duration::from_secs(1));
            for _ in 0..rounds * REPLICAS {
                // maxSurge 1, maxUnavailable 0: a new one is ready before an old one is stopped.
                replicas.push(fleet.replica()?);
                fleet.balancer.set(endpoints(&replicas));
                let old = replicas.remove(0);
                let reported = Instant::now();
                old.signal("-TERM")?;
                plane.until("readyz turns at once", Duration::from_secs(1), || {
                    Ok(old.admin("/readyz")?.status == 503)
                })?;
                // Endpoints lag behind.
                std::thread::sleep(lag);
                fleet.balancer.set(endpoints(&replicas));
                // A Deployment goes on while it ends, which may take as long as the API server keeps idle connections.
                stopping.push((old, reported));
            }
            std::thread::sleep(Duration::from_secs(1));
            Ok(())
        };
        let story = story();
        creates.over.store(true, Ordering::SeqCst);
        story.map(|()| started.elapsed())
    })?;
    let outcomes = creates.outcomes.into_inner().unwrap();
    let mut ended = Duration::ZERO;
    for (mut old, reported) in stopping {
        if !alone {
            // The second signal.
            let _ = old.signal("-TERM");
        }
        assert_eq!(old.wait(Duration::from_secs(120))?, 0);
        ended = ended.max(reported.elapsed());
    }
    // What was idle the API server has closed: before we would, which is 5 s + 95 s after SIGTERM.
    assert!(ended < Duration::from_secs(98), "{ended:?}");
    eprintln!(
        "{} replicas replaced in {took:?}, the last one ended {ended:?} after SIGTERM: {outcomes:?}, the slowest took {:?}",
        rounds * REPLICAS,
        creates.slowest.into_inner().unwrap()
    );
    let created = outcomes.get("created").copied().unwrap_or_default();
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    // A busy machine may be behind; that nothing fails is what counts.
    assert!(created as f64 > took.as_secs_f64() * f64::from(RATE) * 0.1, "{created} in {took:?}");
    Ok(())
}

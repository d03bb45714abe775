//! Pods that are created twenty times a second while something else happens. None may fail.

use crate::e2e::support::api::Api;
use crate::e2e::support::plane::Plane;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const RATE: u32 = 20;

/// The creates of one namespace.
pub(super) struct Creates<'a> {
    plane: &'a Plane,
    namespace: String,
    pod: Value,
    over: AtomicBool,
    /// The step, for what is reported.
    step: Mutex<&'static str>,
    /// By step and by how it ended.
    outcomes: Mutex<BTreeMap<(&'static str, String), usize>>,
}

impl<'a> Creates<'a> {
    pub(super) fn new(plane: &'a Plane, namespace: &str, pod: Value) -> Self {
        Self {
            plane,
            namespace: namespace.to_owned(),
            pod,
            over: AtomicBool::new(false),
            step: Mutex::new("before"),
            outcomes: Mutex::default(),
        }
    }

    pub(super) fn namespace(&self) -> String {
        self.namespace.clone()
    }

    pub(super) fn step(&self, name: &'static str) {
        *self.step.lock().unwrap() = name;
    }

    pub(super) fn stop(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Creates until it is stopped. Dry runs: the API server calls the webhooks, and nothing is left.
    pub(super) fn run(&self) {
        let path = format!("/api/v1/namespaces/{}/pods?dryRun=All", self.namespace);
        let body = self.pod.to_string();
        let mut api: Option<Api> = None;
        let (started, mut sent) = (Instant::now(), 0);
        while !self.over.load(Ordering::SeqCst) {
            sent += 1;
            let due = started + Duration::from_secs(1) / RATE * sent;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let step = *self.step.lock().unwrap();
            let mut open = match api.take().map_or_else(|| Api::connect(self.plane), Ok) {
                Ok(open) => open,
                Err(error) => {
                    self.count(step, error);
                    continue;
                }
            };
            let outcome = match open.ask("POST", &path, &body) {
                Ok(answer) => {
                    if !answer.closes() {
                        api = Some(open);
                    }
                    match answer.status {
                        201 if answer.body.contains("rail7") => "fitted".to_owned(),
                        201 => "created".to_owned(),
                        status => format!("{status} {}", answer.body),
                    }
                }
                Err(error) => error,
            };
            self.count(step, outcome);
        }
    }

    fn count(&self, step: &'static str, outcome: String) {
        *self.outcomes.lock().unwrap().entry((step, outcome)).or_default() += 1;
    }

    /// The outcomes, of which each must be one that the caller expects in that step.
    pub(super) fn outcomes(&self) -> BTreeMap<(&'static str, String), usize> {
        self.outcomes.lock().unwrap().clone()
    }
}

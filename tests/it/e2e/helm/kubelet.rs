//! What a kubelet does with the pods of the chart, as far as it matters here: each pod is a process of our binary with the
//! arguments, variables, profiles and account of the stored pod; its readiness becomes the pod's; a pod that is deleted
//! is no longer an endpoint, and ends by SIGTERM.

use super::egress::Egress;
use crate::e2e::support::plane::Plane;
use crate::support::server::{Server, certificate};
use crate::support::{Scratch, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The server's pods, and the one of `helm test`.
const SELECTOR: &str = "app.kubernetes.io/name in (fabric-admission, fabric-admission-test)";

/// The pods of one namespace.
pub(in crate::e2e) struct Kubelet<'a> {
    plane: &'a Plane,
    egress: &'a Egress<'a>,
    namespace: &'a str,
    over: AtomicBool,
    /// Pods that run, by name, and whether each is known as ready.
    pods: Mutex<BTreeMap<String, (Server, bool)>>,
    /// Servers that got SIGTERM.
    ending: Mutex<Vec<Server>>,
    /// How many pods were started.
    pub(in crate::e2e) started: Mutex<usize>,
}

impl<'a> Kubelet<'a> {
    pub(in crate::e2e) fn new(plane: &'a Plane, egress: &'a Egress<'a>, namespace: &'a str) -> Self {
        Self {
            plane,
            egress,
            namespace,
            over: AtomicBool::new(false),
            pods: Mutex::default(),
            ending: Mutex::default(),
            started: Mutex::default(),
        }
    }

    /// Ends `run`.
    pub(in crate::e2e) fn stop(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Follows the pods until it is stopped.
    pub(in crate::e2e) fn run(&self) -> Result<(), String> {
        while !self.over.load(Ordering::SeqCst) {
            self.look()?;
            std::thread::sleep(Duration::from_millis(150));
        }
        Ok(())
    }

    fn look(&self) -> Result<(), String> {
        let args = ["pods", "-n", self.namespace, "-l", SELECTOR];
        let listed = self.plane.get(&args)?;
        let stored: BTreeMap<String, &Value> = listed["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
            .filter_map(|pod| Some((pod["metadata"]["name"].as_str()?.to_owned(), pod)))
            .collect();
        let mut pods = self.pods.lock().unwrap();
        let gone: Vec<String> = pods.keys().filter(|name| !stored.contains_key(*name)).cloned().collect();
        let ended: Vec<Server> = gone.iter().filter_map(|name| Some(pods.remove(name)?.0)).collect();
        for (name, pod) in stored {
            if pod["spec"]["containers"][0]["args"][0] != "serve" {
                if pod["status"]["phase"] == "Pending" {
                    self.finish(&name, pod)?;
                }
                continue;
            }
            if let Some((server, ready)) = pods.get_mut(&name) {
                let is = server.admin("/readyz").is_ok_and(|answer| answer.status == 200);
                if is != *ready {
                    *ready = is;
                    self.status(&name, is)?;
                }
            } else {
                pods.insert(name, (self.start(pod)?, false));
                *self.started.lock().unwrap() += 1;
            }
        }
        let ready = pods.values().filter(|(_, ready)| *ready);
        self.egress.set(ready.map(|(server, _)| server.webhook).collect());
        for server in ended {
            server.signal("-TERM")?;
            self.ending.lock().unwrap().push(server);
        }
        Ok(())
    }

    /// Starts what the pod says.
    fn start(&self, pod: &Value) -> Result<Server, String> {
        let spec = &pod["spec"];
        let container = &spec["containers"][0];
        assert_eq!(container["args"], json!(["serve"]), "{container}");
        let scratch = Scratch::new()?;
        certificate(&scratch.path().join("tls"))?;
        let volumes = spec["volumes"].as_array().ok_or("no volumes")?;
        let map = volumes.iter().find(|v| v["name"] == "profiles").ok_or("no profiles")?;
        let map = map["configMap"]["name"].as_str().ok_or("not a ConfigMap")?;
        for (name, text) in
            self.plane.get(&["configmap", map, "-n", self.namespace])?["data"].as_object().ok_or("no data")?
        {
            scratch.write(&format!("profiles/{name}"), text.as_str().unwrap_or_default())?;
        }
        scratch
            .write("kubeconfig", self.account(spec["serviceAccountName"].as_str().unwrap_or("default"))?)?;
        let variables: Vec<(&str, &str)> = container["env"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|v| Some((v["name"].as_str()?, v["value"].as_str()?)))
            .collect();
        // Flags are stronger than variables: two pods share this machine's ports and directories.
        Server::start_with(scratch, &["--profiles", "profiles", "--kubeconfig", "kubeconfig"], &variables)
    }

    /// Runs a pod that ends by itself.
    fn finish(&self, name: &str, pod: &Value) -> Result<(), String> {
        let scratch = Scratch::new()?;
        scratch.write(
            "kubeconfig",
            self.account(pod["spec"]["serviceAccountName"].as_str().unwrap_or("default"))?,
        )?;
        let args = pod["spec"]["containers"][0]["args"].as_array().ok_or("no arguments")?;
        let args: Vec<&str> =
            args.iter().filter_map(Value::as_str).chain(["--kubeconfig", "kubeconfig"]).collect();
        let ran = run(&args, b"", scratch.path())?;
        eprintln!("{name}: {} {}", ran.stdout.trim(), ran.stderr.trim());
        let phase = if ran.code == 0 { "Succeeded" } else { "Failed" };
        self.patch(name, &json!({"status": {"phase": phase}}))
    }

    /// A kubeconfig with the rights of the pod's account and no others.
    fn account(&self, name: &str) -> Result<String, String> {
        let token = self.plane.kubectl(&["create", "token", name, "-n", self.namespace], "")?;
        if !token.ok {
            return Err(token.stderr);
        }
        let shown = self.plane.kubectl(&["config", "view", "--raw", "--flatten", "-o", "json"], "")?;
        let mut config: Value = serde_json::from_str(&shown.stdout).map_err(|e| e.to_string())?;
        config["users"][0]["user"] = json!({"token": token.stdout.trim()});
        config["contexts"][0]["context"]["namespace"] = json!(self.namespace);
        Ok(config.to_string())
    }

    fn status(&self, name: &str, ready: bool) -> Result<(), String> {
        let ready = if ready { "True" } else { "False" };
        let condition = |kind: &str| json!({"type": kind, "status": ready});
        let status = json!({"status": {"phase": "Running", "conditions": [condition("Ready"), condition("ContainersReady")]}});
        self.patch(name, &status)
    }

    fn patch(&self, name: &str, status: &Value) -> Result<(), String> {
        let args = ["patch", "pod", name, "-n", self.namespace, "--subresource=status", "--type=merge", "-p"];
        let done = self.plane.kubectl(&[&args[..], &[&status.to_string()]].concat(), "")?;
        // The pod may have been deleted meanwhile.
        if done.ok || done.stderr.contains("NotFound") { Ok(()) } else { Err(done.stderr) }
    }
}

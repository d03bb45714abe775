//! The server with a live cluster: a scripted API server, every fault on command, and what the webhook answers.

mod api_server_away;
mod audit_live;
mod audit_memory;
mod broken_streams;
mod commands_without_api_server;
mod discover_live;
mod doctor_wait;
mod effect_of_each_kind;
mod events_by_chance;
mod history_lost;
mod hours_of_work;
mod limit_of_a_namespace;
mod list_pages;
mod missing_prerequisites;
mod missing_rights;
mod outages_under_load;
mod profiles_and_drift;
mod repeated_events;
mod the_script_itself;
mod unreadable_objects;

use crate::support::Scratch;
use crate::support::scripted_api_server::script::{self, Script};
use crate::support::server::{Server, bare_pod, certificate, patched, review};
use crate::support::suite::Suite;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub(crate) fn add(suite: &mut Suite) {
    audit_memory::add(suite);
    audit_live::add(suite);
    discover_live::add(suite);
    doctor_wait::add(suite);
    the_script_itself::add(suite);
    list_pages::add(suite);
    repeated_events::add(suite);
    broken_streams::add(suite);
    history_lost::add(suite);
    unreadable_objects::add(suite);
    missing_rights::add(suite);
    limit_of_a_namespace::add(suite);
    missing_prerequisites::add(suite);
    profiles_and_drift::add(suite);
    effect_of_each_kind::add(suite);
    api_server_away::add(suite);
    events_by_chance::add(suite);
    hours_of_work::add(suite);
    outages_under_load::add(suite);
    commands_without_api_server::add(suite);
}

/// Most time that anything takes that is to happen soon.
const SOON: Duration = Duration::from_secs(10);

/// Waits until something holds; says what was found last where it does not.
fn within(most: Duration, what: &str, mut holds: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
    let end = Instant::now() + most;
    loop {
        match holds() {
            Ok(true) => return Ok(()),
            found if Instant::now() > end => return Err(format!("not within {most:?}: {what} ({found:?})")),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn soon(what: &str, holds: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
    within(SOON, what, holds)
}

/// A profile for the nodes of one fabric, with a network and a resource of its own.
fn profile(fabric: &str, resource: &str) -> Value {
    json!({
        "metadata": {"name": fabric},
        "spec": {
            "base": "roce-sriov", "nodeSelector": {"matchLabels": {"fabric": fabric}},
            "rails": [{"network": format!("fabric/{fabric}"), "resource": resource, "count": 8}]
        }
    })
}

fn node(name: &str, fabric: &str, pool: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"fabric": fabric, "pool": pool}},
        "status": {"allocatable": {"cpu": "192", "nvidia.com/gpu": "8", "x.com/east": "8", "x.com/west": "8", "x.com/other": "8"}}
    })
}

fn network(name: &str) -> Value {
    json!({
        "metadata": {"namespace": "fabric", "name": name},
        "spec": {"config": "{\"cniVersion\": \"1.0.0\", \"name\": \"n\", \"type\": \"sriov\"}"}
    })
}

fn namespace(name: &str, profile: Option<&str>) -> Value {
    let mut object = json!({"metadata": {"name": name}});
    if let Some(profile) = profile {
        object["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": profile});
    }
    object
}

/// Two fabrics with a node each, that of the first in pool `p`; a node of none; and the namespace of the pods.
fn site() -> Result<Script, String> {
    let script = Script::start()?;
    script.put("Namespace", namespace("training", None));
    for fabric in ["east", "west"] {
        script.put("FabricProfile", profile(fabric, &format!("x.com/{fabric}")));
        script.put("NetworkAttachmentDefinition", network(fabric));
    }
    script.put("Node", node("gpu-0", "west", "w"));
    script.put("Node", node("gpu-b", "none", "bare"));
    script.put("Node", node("gpu-1", "east", "p"));
    Ok(script)
}

/// Four nodes with one RoCE network, which no profile names yet.
fn one_network() -> Result<Script, String> {
    let script = Script::start()?;
    let mut east = network("east");
    east["metadata"]["annotations"] = json!({"k8s.v1.cni.cncf.io/resourceName": "x.com/east"});
    script.put("NetworkAttachmentDefinition", east);
    let policy = json!({"metadata": {"namespace": "op", "name": "east"}, "spec": {"resourceName": "east", "isRdma": true,
        "linkType": "eth", "numVfs": 1, "nicSelector": {"vendor": "15b3"}, "nodeSelector": {"fabric": "east"}}});
    script.put("SriovNetworkNodePolicy", policy);
    for n in 0..4 {
        script.put("Node", node(&format!("gpu-{n}"), "east", "p"));
    }
    Ok(script)
}

/// A pod of eight accelerators that names no profile and is kept to a pool.
fn pod_of(pool: &str) -> Value {
    let mut pod = bare_pod();
    pod["metadata"]["annotations"] = json!({});
    pod["spec"]["nodeSelector"] = json!({"pool": pool});
    pod
}

/// A pod of eight accelerators on nodes that no profile is for: it gets its namespace's.
fn pod_of_namespace() -> Value {
    pod_of("bare")
}

/// A pod of eight accelerators that names a profile.
fn pod_naming(profile: &str) -> Value {
    let mut pod = bare_pod();
    pod["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": profile});
    pod
}

/// A webhook that follows a scripted API server.
struct Live {
    script: Script,
    server: Server,
}

impl Live {
    /// Starts the webhook and waits until it is ready.
    fn start(script: Script) -> Result<Self, String> {
        let live = Self::begin(script, &[])?;
        live.ready()?;
        Ok(live)
    }

    /// Starts the webhook.
    fn begin(script: Script, args: &[&str]) -> Result<Self, String> {
        let server = serve(&script, args, &[])?;
        Ok(Self { script, server })
    }

    fn ready(&self) -> Result<(), String> {
        // A debug build on a slow machine reads lists of 20 MB for ten seconds and more.
        within(Duration::from_secs(60), "ready", || Ok(self.server.admin("/readyz")?.status == 200))
    }

    /// Fabric resources that a pod gets.
    fn resources(&self, pod: &Value) -> Result<Vec<String>, String> {
        resources(&self.server, pod)
    }

    /// Waits until a pod gets this resource and no other.
    fn gives(&self, pod: &Value, resource: &str) -> Result<(), String> {
        let mut last = Vec::new();
        soon(&format!("the pod gets {resource}"), || {
            last = self.resources(pod)?;
            Ok(last == [resource])
        })
        .map_err(|e| format!("{e}; it gets {last:?}\n{}", self.watching()))
    }

    /// Waits until a pod gets no resource.
    fn gives_nothing(&self, pod: &Value) -> Result<(), String> {
        soon("the pod gets nothing", || Ok(self.resources(pod)?.is_empty()))
            .map_err(|e| format!("{e}\n{}", self.watching()))
    }

    /// Value of a metric; 0 where it is not there yet.
    fn metric(&self, name: &str) -> Result<f64, String> {
        let text = self.server.admin("/metrics")?.body;
        let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(Ok(0.0), |value| value.trim().parse().map_err(|e| format!("{name}: {e}")))
    }

    fn of_kind(&self, metric: &str, kind: &str) -> Result<f64, String> {
        self.metric(&format!("fabric_admission_watch_{metric}{{kind=\"{kind}\"}}"))
    }

    /// Waits until a kind is in a state, and in no other.
    fn state(&self, kind: &str, state: &str) -> Result<(), String> {
        soon(&format!("{kind} is {state}"), || {
            let mut is = BTreeMap::new();
            for name in ["synced", "listing", "absent", "forbidden", "failing"] {
                let metric = format!("fabric_admission_watch_state{{kind=\"{kind}\",state=\"{name}\"}}");
                is.insert(name, self.metric(&metric)? > 0.0);
            }
            Ok(is.iter().all(|(name, is)| *is == (*name == state)))
        })
        .map_err(|e| format!("{e}\n{}", self.watching()))
    }

    /// Waits until this many streams are open.
    fn streams(&self, count: usize) -> Result<(), String> {
        soon(&format!("{count} streams"), || Ok(self.script.streams() == count))
            .map_err(|e| format!("{e}: {}", self.script.streams()))
    }

    /// Waits until every kind has its stream.
    fn settled(&self) -> Result<(), String> {
        self.streams(script::RESOURCES.len())
    }

    /// What the metrics say of the watches.
    fn watching(&self) -> String {
        let text = self.server.admin("/metrics").map_or_else(|e| e, |a| a.body);
        let of_watches = |l: &&str| {
            l.contains("_watch_")
                && !l.contains("_last_contact_")
                && !l.starts_with('#')
                && !l.ends_with(" 0")
        };
        text.lines().filter(of_watches).collect::<Vec<_>>().join("\n")
    }

    /// What holds in the end of every test: the server is alive and ready, and it asked as it should.
    fn end(&self) -> Result<(), String> {
        let ready = self.server.admin("/readyz")?;
        if ready.status != 200 {
            return Err(format!("not ready in the end: {}", ready.body));
        }
        polite(&self.script)
    }
}

/// Starts the webhook with the kubeconfig of a scripted server.
fn serve(script: &Script, args: &[&str], environment: &[(&str, &str)]) -> Result<Server, String> {
    let scratch = Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    certificate(&scratch.path().join("tls"))?;
    let mut all = vec!["--kubeconfig", "kubeconfig", "--watch-retry", "0.2"];
    all.extend(args);
    Server::start_with(scratch, &all, environment)
}

/// Fabric resources that a pod gets.
fn resources(server: &Server, pod: &Value) -> Result<Vec<String>, String> {
    let body = review("u", ("", "Pod"), "CREATE", pod).to_string();
    let answer = server.post("/mutate", body.as_bytes())?.json()?;
    if answer["response"].get("patch").is_none_or(Value::is_null) {
        return Ok(Vec::new());
    }
    let pod = patched(pod, &answer)?;
    let limits = pod["spec"]["containers"][0]["resources"]["limits"].as_object().cloned().unwrap_or_default();
    Ok(limits.into_iter().map(|(name, _)| name).filter(|name| name.starts_with("x.com/")).collect())
}

/// No request that makes an API server read everything at once, or compress what it sends.
fn polite(script: &Script) -> Result<(), String> {
    for request in script.requests() {
        let number = |name: &str| request.parameter(name).parse::<u64>().ok().filter(|n| *n > 0);
        let well = request.method == "GET"
            && request.parameter("resourceVersion") != "0"
            && request.encoding == "identity"
            && if request.watch() {
                number("resourceVersion").is_some()
                    && number("timeoutSeconds").is_some()
                    && request.parameter("allowWatchBookmarks") == "true"
            } else {
                number("limit").is_some_and(|limit| limit <= 500)
            };
        if !well {
            return Err(format!("asked as it should not: {request:?}"));
        }
    }
    Ok(())
}

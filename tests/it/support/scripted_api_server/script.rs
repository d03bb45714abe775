//! An API server by script: lists and watches of a few resources over plain HTTP, and every fault on command.

use super::connection;
use super::discovery::Discovery;
use super::http::Request;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Kinds and their paths.
pub(crate) const RESOURCES: &[(&str, &str)] = &[
    ("Node", "/api/v1/nodes"),
    ("Namespace", "/api/v1/namespaces"),
    ("NetworkAttachmentDefinition", "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"),
    ("SriovNetwork", "/apis/sriovnetwork.openshift.io/v1/sriovnetworks"),
    ("SriovIBNetwork", "/apis/sriovnetwork.openshift.io/v1/sriovibnetworks"),
    ("OVSNetwork", "/apis/sriovnetwork.openshift.io/v1/ovsnetworks"),
    ("SriovNetworkNodePolicy", "/apis/sriovnetwork.openshift.io/v1/sriovnetworknodepolicies"),
    ("SriovNetworkNodeState", "/apis/sriovnetwork.openshift.io/v1/sriovnetworknodestates"),
    ("SriovNetworkPoolConfig", "/apis/sriovnetwork.openshift.io/v1/sriovnetworkpoolconfigs"),
    ("SriovOperatorConfig", "/apis/sriovnetwork.openshift.io/v1/sriovoperatorconfigs"),
    ("MacvlanNetwork", "/apis/mellanox.com/v1alpha1/macvlannetworks"),
    ("IPoIBNetwork", "/apis/mellanox.com/v1alpha1/ipoibnetworks"),
    ("HostDeviceNetwork", "/apis/mellanox.com/v1alpha1/hostdevicenetworks"),
    ("NicClusterPolicy", "/apis/mellanox.com/v1alpha1/nicclusterpolicies"),
    ("NicNodePolicy", "/apis/mellanox.com/v1alpha1/nicnodepolicies"),
    ("IPPool", "/apis/nv-ipam.nvidia.com/v1alpha1/ippools"),
    ("CIDRPool", "/apis/nv-ipam.nvidia.com/v1alpha1/cidrpools"),
    ("FabricProfile", "/apis/fabric-admission.dev/v1alpha1/fabricprofiles"),
    ("DeviceClass", "/apis/resource.k8s.io/v1/deviceclasses"),
    ("ComputeDomain", "/apis/resource.nvidia.com/v1beta1/computedomains"),
    ("ResourceClaim", "/apis/resource.k8s.io/v1/resourceclaims"),
    ("ResourceClaimTemplate", "/apis/resource.k8s.io/v1/resourceclaimtemplates"),
    ("ResourceSlice", "/apis/resource.k8s.io/v1/resourceslices"),
];

/// Kinds that make pods, and pods. Nothing watches them.
pub(crate) const WORKLOADS: &[(&str, &str)] = &[
    ("Pod", "/api/v1/pods"),
    ("Job", "/apis/batch/v1/jobs"),
    ("Deployment", "/apis/apps/v1/deployments"),
    ("ReplicaSet", "/apis/apps/v1/replicasets"),
    ("JobSet", "/apis/jobset.x-k8s.io/v1alpha2/jobsets"),
];

/// Every kind of [`RESOURCES`] and [`WORKLOADS`] with its path.
pub(crate) fn kinds() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    RESOURCES.iter().chain(WORKLOADS)
}

/// Whether lists of it leave out `kind` and `apiVersion` of their items, as those of built-in kinds do.
fn built_in(path: &str) -> bool {
    ["/api/v1/", "/apis/resource.k8s.io/", "/apis/batch/", "/apis/apps/"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// How streams end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// As a server does whose time for the watch is over.
    Clean,
    /// The connection is closed between two lines.
    Closed,
    /// The connection is closed within a line.
    MidLine,
    /// The connection is closed within a chunk.
    MidChunk,
}

/// How a watch from before the compaction is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    Status,
    Event,
}

#[derive(Default)]
pub(crate) struct Resource {
    pub(crate) kind: String,
    /// By namespace and name.
    objects: BTreeMap<(String, String), Value>,
    /// Lines of a watch with their revision.
    pub(crate) events: Vec<(u64, Arc<str>)>,
    /// Lines that are sent once, to the streams that are open then.
    pub(crate) injected: Vec<Arc<str>>,
    /// Answer to every request, where it is not served: 404 or 403.
    pub(crate) refused: Option<u16>,
    /// Grows with every command to end its streams.
    pub(crate) ended: u64,
    /// Whether its lists stop in the middle, and say nothing more.
    pub(crate) halting: bool,
}

pub(crate) struct State {
    pub(crate) revision: u64,
    pub(crate) oldest: u64,
    pub(crate) gone: Gone,
    pub(crate) how: How,
    pub(crate) resources: BTreeMap<String, Resource>,
    pub(crate) requests: Vec<Request>,
    /// Status and how many requests still get it.
    pub(crate) failing: (u16, usize),
    pub(crate) stalled: bool,
    /// Streams of a smaller number say nothing any more, and do not end.
    pub(crate) frozen: u64,
    pub(crate) next_stream: u64,
    pub(crate) streams: BTreeMap<u64, String>,
    pub(crate) connections: BTreeMap<u64, TcpStream>,
    next_connection: u64,
    pub(crate) up: bool,
    /// Minor version that the server gives.
    pub(crate) minor: &'static str,
    pub(crate) discovery: Discovery,
    /// Streams that are opened from now on say everything of so many revisions once more.
    pub(crate) rewind: u64,
    /// Whether what a stream says at once is in the order of the names of objects, not of revisions.
    pub(crate) by_name: bool,
    /// Pages that are still to be refused as too old.
    expiring: usize,
    pages: HashMap<String, (u64, Vec<Value>)>,
    /// Most items of a page, whatever the client asks.
    page: usize,
}

pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) changed: Condvar,
    open: AtomicUsize,
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// The server. Everything is closed when it is dropped.
pub(crate) struct Script {
    shared: Arc<Shared>,
    pub(crate) address: SocketAddr,
    accepting: Option<JoinHandle<()>>,
}

impl Script {
    /// A server that has every resource and no object.
    pub(crate) fn start() -> Result<Self, String> {
        let resource = |kind: &str| Resource { kind: kind.to_owned(), ..Resource::default() };
        let state = State {
            revision: 100,
            oldest: 0,
            gone: Gone::Status,
            how: How::Clean,
            resources: kinds().map(|(kind, path)| ((*path).to_owned(), resource(kind))).collect(),
            requests: Vec::new(),
            failing: (500, 0),
            stalled: false,
            frozen: 0,
            next_stream: 0,
            streams: BTreeMap::new(),
            connections: BTreeMap::new(),
            next_connection: 0,
            up: false,
            minor: "34",
            discovery: Discovery::default(),
            rewind: 0,
            by_name: false,
            expiring: 0,
            pages: HashMap::new(),
            page: usize::MAX,
        };
        let shared = Shared { state: Mutex::new(state), changed: Condvar::new(), open: AtomicUsize::new(0) };
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut script = Self { shared: Arc::new(shared), address, accepting: None };
        script.up()?;
        Ok(script)
    }

    /// A kubeconfig for it.
    pub(crate) fn kubeconfig(&self) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: \"http://{}\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{}}}}]\n",
            self.address
        )
    }

    pub(crate) fn command(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.shared.state());
        self.shared.changed.notify_all();
    }

    /// Takes connections, on the same port as before.
    pub(crate) fn up(&mut self) -> Result<(), String> {
        let listener = TcpListener::bind(self.address).map_err(|e| format!("{}: {e}", self.address))?;
        self.address = listener.local_addr().map_err(|e| e.to_string())?;
        self.shared.state().up = true;
        let shared = Arc::clone(&self.shared);
        self.accepting = Some(std::thread::spawn(move || accept(&listener, &shared)));
        Ok(())
    }

    /// Closes everything; connections are refused from here on.
    pub(crate) fn down(&mut self) {
        self.command(|state| {
            state.up = false;
            for stream in state.connections.values() {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        });
        // The listener looks up once more and is gone.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
    }

    /// Puts an object in place of what it was; watchers hear of it.
    pub(crate) fn put(&self, kind: &str, object: Value) {
        self.command(|state| state.put(kind, object));
    }

    /// Puts an object in place of what it was; what watchers hear of it is cut short.
    pub(crate) fn put_unheard(&self, kind: &str, object: Value) {
        self.command(|state| {
            state.put(kind, object);
            let events = &mut state.resources.get_mut(path(kind)).unwrap().events;
            if let Some((_, line)) = events.last_mut() {
                *line = line[..line.len() / 2].into();
            }
        });
    }

    /// Deletes an object; an empty namespace for cluster-scoped ones.
    pub(crate) fn delete(&self, kind: &str, namespace: &str, name: &str) {
        self.command(|state| state.delete(kind, namespace, name));
    }

    /// Objects of a kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.shared.state().resources[path(kind)].objects.len()
    }

    /// Ends every stream.
    pub(crate) fn drop_streams(&self, how: How) {
        self.command(|state| {
            state.how = how;
            state.resources.values_mut().for_each(|r| r.ended += 1);
        });
    }

    /// Forgets the past: a watch from before now is refused. Streams that are open miss nothing.
    pub(crate) fn compact(&self, gone: Gone) {
        self.command(|state| {
            state.revision += 1;
            state.oldest = state.revision;
            state.gone = gone;
        });
    }

    /// Drops what watches were sent, but for the last `keep` revisions; who is further behind has to list.
    pub(crate) fn forget(&self, keep: u64) {
        self.command(|state| {
            let oldest = state.revision.saturating_sub(keep);
            state.oldest = state.oldest.max(oldest);
            state.requests.clear();
            for resource in state.resources.values_mut() {
                resource.events.retain(|(revision, _)| *revision >= oldest);
            }
        });
    }

    /// Refuses every watch as too old, until the next compaction.
    pub(crate) fn always_gone(&self, gone: Gone) {
        self.command(|state| {
            state.oldest = u64::MAX;
            state.gone = gone;
        });
    }

    /// Sets the minor version that the server gives.
    pub(crate) fn minor(&self, minor: &'static str) {
        self.command(|state| state.minor = minor);
    }

    /// Makes pages short, and forgets those that clients are reading.
    pub(crate) fn page(&self, most: usize) {
        self.command(|state| {
            state.page = most;
            state.pages.clear();
        });
    }

    /// Refuses so many pages after a first one as too old.
    pub(crate) fn expire_pages(&self, times: usize) {
        self.command(|state| state.expiring = times);
    }

    /// Makes lists of a kind stop in the middle, or not any more.
    pub(crate) fn halt(&self, kind: &str, halting: bool) {
        self.command(|state| state.resources.get_mut(path(kind)).unwrap().halting = halting);
    }

    /// Makes new streams begin so many revisions earlier than they were asked to, by the names of objects.
    pub(crate) fn repeat(&self, revisions: u64) {
        self.command(|state| (state.rewind, state.by_name) = (revisions, revisions > 0));
    }

    /// Answers every request for a kind with a status and ends its streams, or serves it again.
    pub(crate) fn refuse(&self, kind: &str, status: Option<u16>) {
        self.command(|state| {
            state.how = How::Clean;
            let resource = state.resources.get_mut(path(kind)).unwrap();
            resource.refused = status;
            resource.ended += 1;
        });
    }

    /// Answers this many requests with a status, whatever they ask.
    pub(crate) fn fail(&self, status: u16, times: usize) {
        self.command(|state| state.failing = (status, times));
    }

    /// Failures of [`Self::fail`] that are still to come.
    pub(crate) fn failures_left(&self) -> usize {
        self.shared.state().failing.1
    }

    /// Accepts connections and says nothing, until another setting.
    pub(crate) fn stall(&self, stalled: bool) {
        self.command(|state| state.stalled = stalled);
    }

    /// Makes the streams that are open now silent permanently; others work.
    pub(crate) fn freeze_streams(&self) {
        self.command(|state| state.frozen = state.next_stream);
    }

    /// Sends every stream a bookmark of the present revision, which is a new one.
    pub(crate) fn bookmark(&self) -> u64 {
        let mut state = self.shared.state();
        state.revision += 1;
        let revision = state.revision;
        for (path, resource) in &mut state.resources {
            let mut object = json!({"metadata": {"resourceVersion": revision.to_string()}});
            named(&mut object, path, &resource.kind);
            resource.injected.push(json!({"type": "BOOKMARK", "object": object}).to_string().into());
        }
        self.shared.changed.notify_all();
        revision
    }

    /// Sends a line, which need not be an event, to the open streams of a kind.
    pub(crate) fn line(&self, kind: &str, line: &str) {
        self.command(|state| state.resources.get_mut(path(kind)).unwrap().injected.push(line.into()));
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Requests for lists or for watches of a kind so far.
    pub(crate) fn asked(&self, kind: &str, watch: bool) -> Vec<Request> {
        let all = self.requests().into_iter();
        all.filter(|r| r.path == path(kind) && r.watch() == watch).collect()
    }

    /// Streams that are open.
    pub(crate) fn streams(&self) -> usize {
        self.shared.state().streams.len()
    }

    /// Connections that are open.
    pub(crate) fn connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.down();
    }
}

/// Path of a kind.
pub(crate) fn path(kind: &str) -> &'static str {
    kinds().find(|(k, _)| *k == kind).map(|(_, path)| *path).unwrap()
}

/// Writes `kind` and `apiVersion`.
fn named(object: &mut Value, path: &str, kind: &str) {
    let version = path.trim_start_matches("/apis/").trim_start_matches("/api/");
    object["apiVersion"] = json!(version.rsplit_once('/').map_or(version, |(version, _)| version));
    object["kind"] = json!(kind);
}

impl State {
    fn event(&mut self, kind: &str, what: &str, object: &Value) {
        let resource = self.resources.get_mut(path(kind)).unwrap();
        resource.events.push((self.revision, json!({"type": what, "object": object}).to_string().into()));
    }

    fn put(&mut self, kind: &str, mut object: Value) {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        named(&mut object, path(kind), kind);
        let id =
            ["namespace", "name"].map(|key| object["metadata"][key].as_str().unwrap_or_default().to_owned());
        let objects = &mut self.resources.get_mut(path(kind)).unwrap().objects;
        let old = objects.insert(id.into(), object.clone());
        self.event(kind, if old.is_some() { "MODIFIED" } else { "ADDED" }, &object);
    }

    fn delete(&mut self, kind: &str, namespace: &str, name: &str) {
        let objects = &mut self.resources.get_mut(path(kind)).unwrap().objects;
        let Some(mut object) = objects.remove(&(namespace.to_owned(), name.to_owned())) else { return };
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.event(kind, "DELETED", &object);
    }

    /// A page of a list; `None` where the token is not known any more.
    pub(crate) fn list(&mut self, request: &Request) -> Option<String> {
        let token = request.parameter("continue");
        let (revision, mut items) = if token.is_empty() {
            let resource = &self.resources[&request.path];
            let mut items: Vec<Value> = resource.objects.values().cloned().collect();
            if built_in(&request.path) {
                for item in items.iter_mut().filter_map(Value::as_object_mut) {
                    item.shift_remove("kind");
                    item.shift_remove("apiVersion");
                }
            }
            (self.revision, items)
        } else if self.expiring > 0 {
            self.expiring -= 1;
            return None;
        } else {
            self.pages.get(token).cloned()?
        };
        let limit = request.parameter("limit").parse().unwrap_or(usize::MAX).min(self.page);
        let rest = if items.len() > limit { items.split_off(limit) } else { Vec::new() };
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if !rest.is_empty() {
            metadata["remainingItemCount"] = json!(rest.len());
            // With characters that have a meaning of their own in a query.
            let token = format!("{}+{revision}/{}==", self.resources[&request.path].kind, rest.len());
            metadata["continue"] = json!(token);
            self.pages.insert(token, (revision, rest));
        }
        let mut list = json!({"metadata": metadata, "items": items});
        let kind = format!("{}List", self.resources[&request.path].kind);
        named(&mut list, &request.path, &kind);
        Some(list.to_string())
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let _ = stream.set_nodelay(true);
        let mut state = shared.state();
        if !state.up {
            return;
        }
        let id = state.next_connection;
        state.next_connection += 1;
        let Ok(copy) = stream.try_clone() else { continue };
        state.connections.insert(id, copy);
        drop(state);
        shared.open.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            // A client that closes ends the connection, whatever was to be said.
            let _ = connection::connection(&stream, &shared);
            shared.state().connections.remove(&id);
            shared.open.fetch_sub(1, Ordering::SeqCst);
            drop(stream);
        });
    }
}

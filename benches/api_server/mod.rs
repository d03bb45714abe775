//! A pretended API server for servers under measurement. It makes up its nodes as it writes them: 130,000 of them are
//! 4.4 GB. The other kinds are given.

#[path = "../../tests/it/support/scripted_api_server/http.rs"]
mod http;
pub(crate) mod nodes;

use http::{Request, answer, chunk, chunked, gone, request};
use nodes::Template;
use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Changes of nodes in a second.
pub(crate) const RATE: u64 = 500;
/// Of so many changes one changes a label; the others are heartbeats.
const LABEL_EVERY: u64 = 100;
/// Batches of changes in a second.
const BEATS: u64 = 50;

/// Objects of the other kinds by the last part of their path, such as `namespaces`.
pub(crate) type Objects = BTreeMap<&'static str, Vec<serde_json::Value>>;

/// The API server. It ends with the process.
pub(crate) struct ApiServer {
    template: Template,
    nodes: usize,
    objects: Objects,
    churn: AtomicBool,
    sent: AtomicU64,
    /// A list of nodes is in progress: its first page was asked for, and its last is not written.
    listing: AtomicBool,
    /// Watches of nodes that began before so many calls of [`ApiServer::forget`] end with 410.
    forgotten: AtomicUsize,
}

impl ApiServer {
    pub(crate) fn new(nodes: usize, objects: Objects) -> Arc<Self> {
        Arc::new(Self {
            template: Template::new(),
            nodes,
            objects,
            churn: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            listing: AtomicBool::new(false),
            forgotten: AtomicUsize::new(0),
        })
    }

    /// The length of a node (bytes).
    pub(crate) fn node_bytes(&self) -> usize {
        let mut one = Vec::new();
        self.template.write(0, 0, false, &mut one);
        one.len()
    }

    /// Whether nodes change now.
    pub(crate) fn churn(&self, on: bool) {
        self.churn.store(on, Ordering::SeqCst);
    }

    /// Changes that were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// Forgets the history of nodes: every watch of them ends with 410, so that its client lists all nodes again.
    pub(crate) fn forget(&self) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether a list of nodes is in progress.
    pub(crate) fn listing(&self) -> bool {
        self.listing.load(Ordering::SeqCst)
    }

    pub(crate) fn serve(self: &Arc<Self>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::clone(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                std::thread::spawn(move || server.connection(stream));
            }
        });
        address
    }

    fn connection(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(asked) = request(&mut reader)? {
            assert_eq!(asked.method, "GET");
            let nodes = asked.path == "/api/v1/nodes";
            match (nodes, asked.watch()) {
                (true, false) => self.page(&mut stream, &asked)?,
                (true, true) => return self.changes(&mut stream),
                (false, false) => {
                    let list = format!(
                        "{{\"metadata\":{{\"resourceVersion\":\"1000\"}},\"items\":[{}]}}",
                        self.objects(&asked.path)
                    );
                    answer(&mut stream, 200, "application/json", list.as_bytes())?;
                }
                (false, true) => {
                    chunked(&mut stream)?;
                    while !gone(&stream) {
                        std::thread::sleep(Duration::from_millis(500));
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn objects(&self, path: &str) -> String {
        let kind = path.rsplit('/').next().unwrap_or_default();
        let objects = self.objects.get(kind).map(Vec::as_slice).unwrap_or_default();
        objects.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// A page of nodes, one chunk each.
    fn page(&self, stream: &mut TcpStream, asked: &Request) -> io::Result<()> {
        let limit: usize = asked.parameter("limit").parse().unwrap();
        let from: usize = asked.parameter("continue").parse().unwrap_or(0);
        let to = (from + limit).min(self.nodes);
        let next = if to < self.nodes { format!(",\"continue\":\"{to}\"") } else { String::new() };
        if from == 0 {
            self.listing.store(true, Ordering::SeqCst);
        }
        chunked(stream)?;
        let head = format!(
            "{{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"1000\"{next}}},\"items\":["
        );
        chunk(stream, head.as_bytes())?;
        let mut text = Vec::new();
        for number in from..to {
            text.clear();
            self.template.write(number, 0, false, &mut text);
            if number + 1 < to {
                text.push(b',');
            }
            chunk(stream, &text)?;
        }
        if to == self.nodes {
            self.listing.store(false, Ordering::SeqCst);
        }
        chunk(stream, b"]}")?;
        chunk(stream, b"")
    }

    /// Changes, as long as there are to be any; until the client leaves, or the history is forgotten.
    fn changes(&self, stream: &mut TcpStream) -> io::Result<()> {
        const GONE: &[u8] =
            b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410}}\n";
        chunked(stream)?;
        let known = self.forgotten.load(Ordering::SeqCst);
        let mut line = Vec::new();
        let mut next = Instant::now();
        loop {
            if self.forgotten.load(Ordering::SeqCst) != known {
                chunk(stream, GONE)?;
                return chunk(stream, b"");
            }
            if !self.churn.load(Ordering::SeqCst) {
                if gone(stream) {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(10));
                next = Instant::now();
                continue;
            }
            for _ in 0..RATE / BEATS {
                let change = self.sent.fetch_add(1, Ordering::SeqCst) + 1;
                // A prime step spreads the changes over all nodes.
                let number = (change * 7919) as usize % self.nodes;
                line.clear();
                line.extend_from_slice(b"{\"type\":\"MODIFIED\",\"object\":");
                self.template.write(number, change, change.is_multiple_of(LABEL_EVERY), &mut line);
                line.extend_from_slice(b"}\n");
                chunk(stream, &line)?;
            }
            next += Duration::from_millis(1000 / BEATS);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
}

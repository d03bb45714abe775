//! Servers under measurement as processes of their own: how they start, and what the kernel counts for them. Linux only.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A process that is measured; ended when dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) webhook: SocketAddr,
    pub(crate) admin: SocketAddr,
}

/// What the kernel counted for a process up to now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    /// CPU time, user and system (seconds).
    pub(crate) cpu: f64,
    /// How often its threads gave up their core, and how often they were moved off it.
    pub(crate) switches: u64,
}

impl Process {
    /// `fabric-admission serve` with the facts of an API server, without its log.
    pub(crate) fn serve(binary: &Path, directory: &Path, api: SocketAddr, more: &[&str]) -> Self {
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: \"http://{api}\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
        );
        let file = directory.join(format!("kubeconfig-{}", api.port()));
        std::fs::write(&file, kubeconfig).unwrap();
        let mut command = Command::new(binary);
        command
            .args(["serve", "--bind", "127.0.0.1:0", "--admin-bind", "127.0.0.1:0", "--kubeconfig"])
            .arg(file)
            .args(["--tls-cert", "tls/tls.crt", "--tls-key", "tls/tls.key"])
            .args(more)
            .current_dir(directory);
        Self::start(command)
    }

    /// Starts a server that reports its addresses with a line `{"event": "listening", "webhook": …, "admin": …}` on stderr.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let (mut line, mut before) = (String::new(), String::new());
        while !line.contains("\"listening\"") {
            before.push_str(&line);
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server ended: {before}");
        }
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        let address = |key: &str| event[key].as_str().unwrap().parse().unwrap();
        let (webhook, admin) = (address("webhook"), address("admin"));
        std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        Self { child, webhook, admin }
    }

    /// The answer of the admin port, head and body.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.admin).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) fn ready(&self) -> bool {
        self.get("/readyz").starts_with("HTTP/1.1 200")
    }

    pub(crate) fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics");
        let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}")).trim().parse().unwrap()
    }

    /// Memory (MiB).
    pub(crate) fn memory(&self, what: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix(what)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }

    pub(crate) fn used(&self) -> Used {
        used(self.child.id())
    }
}

/// What the kernel counted for the threads of a process. Time comes from `schedstat` in nanoseconds, because `stat` counts
/// hundredths of a second: at one request per second that is no figure.
pub(crate) fn used(process: u32) -> Used {
    let tasks = PathBuf::from(format!("/proc/{process}/task"));
    let threads = std::fs::read_dir(tasks).unwrap().filter_map(Result::ok);
    let mut used = Used { cpu: 0.0, switches: 0 };
    for thread in threads {
        let read = |file: &str| std::fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let nanoseconds = read("schedstat").split(' ').next().and_then(|n| n.parse::<f64>().ok());
        used.cpu += nanoseconds.unwrap_or_default() / 1e9;
        let status = read("status");
        let counts = status.lines().filter(|line| line.contains("voluntary_ctxt_switches"));
        used.switches += counts.filter_map(|line| line.rsplit('\t').next()?.parse::<u64>().ok()).sum::<u64>();
    }
    used
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory, removed in the end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    /// With a certificate for development in `tls`.
    pub(crate) fn with_certificate(binary: &Path) -> Self {
        let path = std::env::temp_dir().join(format!("fabric-admission-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let made =
            Command::new(binary).args(["certs", "dev", "--out", "tls"]).current_dir(&path).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

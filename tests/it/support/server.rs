//! The server as a child process, and a client over real TLS that writes its own HTTP.

use super::{Scratch, binary, run};
use rustls::client::WantsClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ConfigBuilder, RootCertStore, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// A development certificate in a directory: ca.crt, tls.crt, tls.key.
pub(crate) fn certificate(directory: &Path) -> Result<(), String> {
    let out = directory.to_string_lossy().into_owned();
    let ran = run(&["certs", "dev", "--out", &out], b"", Path::new("."))?;
    if ran.code == 0 { Ok(()) } else { Err(ran.stderr) }
}

/// A running server; killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) webhook: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) scratch: Scratch,
}

/// The lines that a server logs.
pub(crate) type Log = BufReader<Box<dyn Read + Send>>;

impl Server {
    /// Starts with a fresh certificate, `files` written to its directory first.
    pub(crate) fn start(files: &[(&str, &str)], args: &[&str]) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        for (name, text) in files {
            scratch.write(name, text)?;
        }
        certificate(&scratch.path().join("tls"))?;
        Self::start_in(scratch, args)
    }

    /// Starts in a directory that has its certificate in `tls/`.
    pub(crate) fn start_in(scratch: Scratch, args: &[&str]) -> Result<Self, String> {
        Self::start_with(scratch, args, &[])
    }

    /// How it is called, in a directory that has its certificate in `tls/`.
    pub(crate) fn command(scratch: &Scratch, binds: [&str; 2], args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(["serve", "--bind", binds[0], "--admin-bind", binds[1]])
            .args(["--tls-cert", "tls/tls.crt", "--tls-key", "tls/tls.key"])
            .args(args)
            .current_dir(scratch.path())
            .stdout(Stdio::null());
        command
    }

    /// The same with variables of the environment.
    pub(crate) fn start_with(
        scratch: Scratch,
        args: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Self, String> {
        let any = "127.0.0.1:0";
        let mut command = Self::command(&scratch, [any, any], args);
        command.envs(environment.iter().copied());
        Self::listening(scratch, command)
    }

    /// Starts in a shell that has said something first.
    pub(crate) fn start_after(said: &str, args: &[&str]) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        certificate(&scratch.path().join("tls"))?;
        let any = "127.0.0.1:0";
        let server = Self::command(&scratch, [any, any], args);
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{said}; exec \"$@\""), "sh"])
            .arg(server.get_program())
            .args(server.get_args())
            .current_dir(scratch.path())
            .stdout(Stdio::null());
        Self::listening(scratch, command)
    }

    fn listening(scratch: Scratch, command: Command) -> Result<Self, String> {
        let (server, mut log) = Self::with_its_log(scratch, command)?;
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Ok(server)
    }

    /// Starts a server whose log is read up to the line that it listens, and no further.
    pub(crate) fn unread(args: &[&str], environment: &[(&str, &str)]) -> Result<(Self, Log), String> {
        Self::logged(&[], args, environment)
    }

    /// The same with files in its directory.
    pub(crate) fn logged(
        files: &[(&str, &str)],
        args: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<(Self, Log), String> {
        let scratch = Scratch::new()?;
        for (name, text) in files {
            scratch.write(name, text)?;
        }
        certificate(&scratch.path().join("tls"))?;
        let any = "127.0.0.1:0";
        let mut command = Self::command(&scratch, [any, any], args);
        command.envs(environment.iter().copied());
        Self::with_its_log(scratch, command)
    }

    fn with_its_log(scratch: Scratch, mut command: Command) -> Result<(Self, Log), String> {
        let mut child = command.stderr(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
        let mut log = BufReader::new(child.stderr.take().ok_or("no stderr")?);
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            if log.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                let _ = child.wait();
                return Err(format!("the server ended: {seen}"));
            }
            let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if event["event"] != "listening" {
                seen.push_str(&line);
            } else {
                let address =
                    |key: &str| event[key].as_str().and_then(|a| a.parse().ok()).ok_or("no address");
                let (webhook, admin) = (address("webhook")?, address("admin")?);
                // A busy machine runs the watches before the server says that it listens: their lines are in front.
                let whole = std::io::Cursor::new(seen.into_bytes()).chain(log);
                return Ok((Self { child, webhook, admin, scratch }, BufReader::new(Box::new(whole))));
            }
        }
    }

    pub(crate) fn client(&self) -> Result<Client, String> {
        Client::connect(self.webhook, &self.scratch.path().join("tls/ca.crt"))
    }

    /// One request on a connection of its own.
    pub(crate) fn post(&self, path: &str, body: &[u8]) -> Result<Answer, String> {
        self.client()?.post(path, body)
    }

    /// A path of the admin port.
    pub(crate) fn admin(&self, path: &str) -> Result<Answer, String> {
        admin(self.admin, path)
    }

    pub(crate) fn signal(&self, name: &str) -> Result<(), String> {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        if status.map_err(|e| e.to_string())?.success() { Ok(()) } else { Err("kill failed".into()) }
    }

    /// Threads and open files of the process, if the system shows them (Linux).
    pub(crate) fn belongings(&self) -> Option<(usize, usize)> {
        let count =
            |of: &str| Some(std::fs::read_dir(format!("/proc/{}/{of}", self.child.id())).ok()?.count());
        Some((count("task")?, count("fd")?))
    }

    /// How many files the process may open, if the system shows it (Linux).
    pub(crate) fn most_open_files(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/limits", self.child.id())).ok()?;
        let line = text.lines().find_map(|l| l.strip_prefix("Max open files"))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// A number out of the process's status (`VmRSS`, `VmHWM`: KiB; `Threads`), if the system shows it (Linux).
    pub(crate) fn status(&self, what: &str) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|l| l.strip_prefix(what)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// Value of a metric; 0 where it is not there yet.
    pub(crate) fn metric(&self, name: &str) -> Result<f64, String> {
        metric(self.admin, name)
    }

    /// Open connections of the process to a port of this machine, if the system shows them (Linux).
    pub(crate) fn connections_to(&self, port: u16) -> Option<usize> {
        let process = format!("/proc/{}", self.child.id());
        let files = std::fs::read_dir(format!("{process}/fd")).ok()?.filter_map(Result::ok);
        let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        let ours: Vec<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
        let table = std::fs::read_to_string(format!("{process}/net/tcp")).ok()?;
        // Number, local address, remote address, state (01: established), and the inode as the tenth.
        let open = table.lines().skip(1).filter(|line| {
            let row: Vec<&str> = line.split_whitespace().collect();
            row.len() > 9
                && row[2].ends_with(&format!(":{port:04X}"))
                && row[3] == "01"
                && ours.contains(&format!("socket:[{}]", row[9]))
        });
        Some(open.count())
    }

    /// Waits for the end; the exit code.
    pub(crate) fn wait(&mut self, most: Duration) -> Result<i32, String> {
        let end = std::time::Instant::now() + most;
        while std::time::Instant::now() < end {
            if let Some(status) = self.child.try_wait().map_err(|e| e.to_string())? {
                return status.code().ok_or_else(|| "ended by a signal".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("still running after {most:?}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn admin(address: SocketAddr, path: &str) -> Result<Answer, String> {
    let mut stream = TcpStream::connect(address).map_err(|e| e.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).map_err(|e| e.to_string())?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").map_err(|e| e.to_string())?;
    Answer::read(&mut stream)
}

pub(crate) fn metric(address: SocketAddr, name: &str) -> Result<f64, String> {
    let text = admin(address, "/metrics")?.body;
    let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(Ok(0.0), |value| value.trim().parse().map_err(|e| format!("{name}: {e}")))
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(stream: &mut impl Read) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                let length = head.lines().find_map(|l| {
                    let (name, value) = l.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
                });
                if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
                    if let Some(body) = unchunk(&bytes[end + 4..]) {
                        let status =
                            head.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or("no status")?;
                        return Ok(Self { status, head, body: String::from_utf8_lossy(&body).into_owned() });
                    }
                } else if bytes.len() >= end + 4 + length.unwrap_or(0) {
                    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or("no status")?;
                    let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
                    return Ok(Self { status, head, body });
                }
            }
            match stream.read(&mut buffer) {
                Ok(0) => return Err(format!("closed after {} bytes", bytes.len())),
                Ok(n) => bytes.extend_from_slice(&buffer[..n]),
                Err(e) => return Err(format!("after {} bytes: {e}", bytes.len())),
            }
        }
    }

    pub(crate) fn json(&self) -> Result<serde_json::Value, String> {
        serde_json::from_str(&self.body).map_err(|e| format!("{e}: {}", self.body))
    }

    /// The answer without the time that it took, so that two answers can be compared.
    pub(crate) fn untimed(&self) -> Result<serde_json::Value, String> {
        let mut answer = self.json()?;
        if let Some(annotations) = answer.pointer_mut("/response/auditAnnotations") {
            annotations.as_object_mut().and_then(|annotations| annotations.remove("duration_seconds"));
        }
        Ok(answer)
    }

    pub(crate) fn closes(&self) -> bool {
        self.head.to_ascii_lowercase().contains("connection: close")
    }
}

/// The body of a chunked answer, once its last chunk is there.
fn unchunk(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = bytes.windows(2).position(|w| w == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).ok()?.trim(), 16).ok()?;
        let chunk = bytes.get(line + 2..line + 2 + size)?;
        bytes = bytes.get(line + 2 + size + 2..)?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(chunk);
    }
}

/// A client that trusts one authority; whether it has a certificate of its own is still to be said.
pub(crate) fn trusting(
    ca: &Path,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).map_err(|e| e.to_string())? {
        roots.add(certificate.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    }
    let config = ClientConfig::builder_with_provider(fabric_admission::tls::crypto_provider())
        .with_protocol_versions(versions)
        .map_err(|e| e.to_string())?;
    Ok(config.with_root_certificates(roots))
}

/// A TLS connection that is kept open.
pub(crate) struct Client {
    pub(crate) stream: StreamOwned<ClientConnection, TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, ca: &Path) -> Result<Self, String> {
        Self::connect_with(address, ca, rustls::DEFAULT_VERSIONS)
    }

    pub(crate) fn connect_with(
        address: SocketAddr,
        ca: &Path,
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> Result<Self, String> {
        let config = trusting(ca, versions)?.with_no_client_auth();
        Self::over(TcpStream::connect(address).map_err(|e| e.to_string())?, config)
    }

    /// The handshake over a connection that is there.
    pub(crate) fn over(socket: TcpStream, config: ClientConfig) -> Result<Self, String> {
        let name = ServerName::try_from("localhost").map_err(|e| e.to_string())?;
        let connection = ClientConnection::new(Arc::new(config), name).map_err(|e| e.to_string())?;
        socket.set_read_timeout(Some(Duration::from_secs(20))).map_err(|e| e.to_string())?;
        // Head and body are two writes; the second must not wait for the first to be acknowledged.
        socket.set_nodelay(true).map_err(|e| e.to_string())?;
        let mut stream = StreamOwned::new(connection, socket);
        // The handshake, so that what follows is HTTP alone.
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).map_err(|e| e.to_string())?;
        }
        Ok(Self { stream })
    }

    pub(crate) fn post(&mut self, path: &str, body: &[u8]) -> Result<Answer, String> {
        let head = format!(
            "POST {path}?timeout=5s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: kube-apiserver-admission\r\n\
             Accept: application/json, */*\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.send(head.as_bytes(), body)
    }

    pub(crate) fn send(&mut self, head: &[u8], body: &[u8]) -> Result<Answer, String> {
        self.stream.write_all(head).map_err(|e| e.to_string())?;
        // A server that refuses early may close while we still write; its answer counts.
        let written = self.stream.write_all(body).and_then(|()| self.stream.flush());
        Answer::read(&mut self.stream).map_err(|e| format!("{e}; {written:?}"))
    }
}

/// A site profile over a base, which pods name by annotation.
pub(crate) const PROFILE: &str = "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\n\
    metadata: {name: h100}\nspec: {base: roce-sriov}\n";

/// An AdmissionReview around an object.
pub(crate) fn review(
    uid: &str,
    kind: (&str, &str),
    operation: &str,
    object: &serde_json::Value,
) -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": uid, "kind": {"group": kind.0, "version": "v1", "kind": kind.1}, "namespace": "training",
            "operation": operation, "object": object, "oldObject": null, "dryRun": false
        }
    })
}

/// A pod of eight accelerators that names the site profile and has nothing else.
pub(crate) fn bare_pod() -> serde_json::Value {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "trainer", "namespace": "training", "annotations": {"fabric-admission.dev/profile": "h100"}},
        "spec": {"containers": [{
            "name": "trainer", "image": "example.com/trainer:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}
        }]}
    })
}

/// Applies the patch of an answer.
pub(crate) fn patched(
    object: &serde_json::Value,
    answer: &serde_json::Value,
) -> Result<serde_json::Value, String> {
    use base64::Engine;
    let text = answer["response"]["patch"].as_str().ok_or_else(|| format!("no patch: {answer}"))?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).map_err(|e| e.to_string())?;
    let patch: json_patch::Patch = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
    let mut object = object.clone();
    json_patch::patch(&mut object, &patch).map_err(|e| e.to_string())?;
    Ok(object)
}

//! A connection as an API server has it to a webhook: HTTP/1.1 over TLS, without resumption of sessions
//! (k8s.io/apiserver pkg/util/webhook/client.go; client-go transport/cache.go keeps no session cache).

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest `timeoutSeconds` of a webhook.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A webhook and its authority.
pub(crate) struct Endpoint {
    address: SocketAddr,
    name: ServerName<'static>,
    authority: String,
    path: String,
    tls: Arc<ClientConfig>,
}

impl Endpoint {
    /// `https://HOST[:PORT]/PATH`, trusted by the certificates of a file.
    pub(crate) fn new(url: &str, ca: &Path) -> Result<Self, String> {
        let rest =
            url.strip_prefix("https://").ok_or_else(|| format!("{url} does not begin with https://"))?;
        let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "443"));
        let port: u16 = port.parse().map_err(|_| format!("{url}: {port} is not a port"))?;
        let addresses: Vec<_> = (host, port).to_socket_addrs().map_err(|e| format!("{host}: {e}"))?.collect();
        // A name may have an address on which nothing listens, such as ::1 of localhost.
        let address = addresses.iter().find(|a| TcpStream::connect(a).is_ok());
        let mut roots = RootCertStore::empty();
        let text = |e: &dyn std::fmt::Display| format!("{}: {e}", ca.display());
        for certificate in CertificateDer::pem_file_iter(ca).map_err(|e| text(&e))? {
            roots.add(certificate.map_err(|e| text(&e))?).map_err(|e| text(&e))?;
        }
        let mut tls = ClientConfig::builder_with_provider(fabric_admission::tls::crypto_provider())
            .with_protocol_versions(rustls::DEFAULT_VERSIONS)
            .map_err(|e| e.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.resumption = Resumption::disabled();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            address: *address.ok_or_else(|| format!("cannot connect to {authority}"))?,
            name: ServerName::try_from(host.to_owned()).map_err(|e| format!("{host}: {e}"))?,
            authority: authority.to_owned(),
            path: path.to_owned(),
            tls: Arc::new(tls),
        })
    }

    /// The request as an API server sends it.
    pub(crate) fn request(&self, body: &[u8]) -> Vec<u8> {
        let mut request = format!(
            "POST {}?timeout=10s HTTP/1.1\r\nHost: {}\r\nUser-Agent: kube-apiserver-admission\r\nContent-Length: {}\r\n\
             Accept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n",
            self.path,
            self.authority,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        request
    }

    pub(super) fn connect(&self) -> io::Result<Connection> {
        let socket = TcpStream::connect(self.address)?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        socket.set_nodelay(true)?;
        let tls =
            ClientConnection::new(Arc::clone(&self.tls), self.name.clone()).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(tls, socket);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Connection { stream, used: false, since: Instant::now() })
    }
}

/// An open connection.
pub(super) struct Connection {
    stream: StreamOwned<ClientConnection, TcpStream>,
    /// Whether it has had an answer.
    pub(super) used: bool,
    /// When it became idle.
    pub(super) since: Instant,
}

/// What the driver looks at in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) closes: bool,
    pub(super) body: usize,
    pub(super) allows: bool,
}

/// Why no answer came.
pub(super) struct Broken {
    pub(super) error: io::Error,
    /// The connection ended before the first byte of an answer.
    pub(super) unanswered: bool,
}

impl Connection {
    /// Sends a request and reads its answer to the end.
    pub(super) fn exchange(&mut self, request: &[u8], buffer: &mut Vec<u8>) -> Result<Answer, Broken> {
        buffer.clear();
        let sent = self.stream.write_all(request).and_then(|()| self.stream.flush());
        let read = sent.and_then(|()| {
            let mut part = [0; 16 * 1024];
            loop {
                if let Some(answer) = answer(buffer)? {
                    return Ok(answer);
                }
                match self.stream.read(&mut part)? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    n => buffer.extend_from_slice(&part[..n]),
                }
            }
        });
        self.used = true;
        read.map_err(|error| Broken { error, unanswered: buffer.is_empty() })
    }
}

/// The answer, once all of it is there.
fn answer(bytes: &[u8]) -> io::Result<Option<Answer>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end]).map_err(io::Error::other)?.to_ascii_lowercase();
    let body = &bytes[end + 4..];
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let complete = match header("content-length").and_then(|length| length.parse::<usize>().ok()) {
        Some(length) => body.len() >= length,
        // The last chunk is empty, and nobody who is measured sends trailers.
        None => body.ends_with(b"0\r\n\r\n"),
    };
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok(complete.then(|| Answer {
        status: status.unwrap_or_default(),
        closes: header("connection") == Some("close"),
        body: body.len(),
        allows: contains(body, b"\"allowed\":true") || contains(body, b"\"allowed\": true"),
    }))
}

fn contains(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).any(|window| window == words)
}

//! As much of HTTP/1.1 as a list and a watch need, from the server's side. The bench of `benches/cluster` uses it too.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;

/// What a client asked.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: BTreeMap<String, String>,
    /// `Accept-Encoding`; empty where it is not given.
    pub(crate) encoding: String,
}

impl Request {
    /// A parameter; empty where it is not given.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// Whether it asks for a watch.
    pub(crate) fn watch(&self) -> bool {
        matches!(self.parameter("watch"), "true" | "1")
    }
}

/// The next request of a connection; `None` where the client closed it.
pub(crate) fn request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|p| !p.is_empty());
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: pairs
            .map(|p| p.split_once('=').unwrap_or((p, "")))
            .map(|(k, v)| (plain(k), plain(v)))
            .collect(),
        encoding: String::new(),
    };
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 {
            return Ok(None);
        }
        if header.trim().is_empty() {
            return Ok(Some(request));
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("accept-encoding")
        {
            value.trim().clone_into(&mut request.encoding);
        }
    }
}

/// Undoes the percent-encoding of a query.
fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|d| char::from(d.unwrap_or(b'0')));
                u8::from_str_radix(&String::from_iter(digits), 16).unwrap_or(b'?')
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// In a text of an object: stands for one byte that is not UTF-8. The API server keeps some JSON as it was sent
/// (`fieldsV1` of managed fields, `opaque.parameters` of claims), and sends such bytes in lists and watches.
pub(crate) const NOT_UTF8: &str = "\u{fdd0}";

/// The bytes as the API server sends them.
fn raw(bytes: &[u8]) -> Vec<u8> {
    let mark = NOT_UTF8.as_bytes();
    let mut sent = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, others)) = rest.split_first() {
        match rest.strip_prefix(mark) {
            Some(others) => {
                sent.push(0xff);
                rest = others;
            }
            None => {
                sent.push(*first);
                rest = others;
            }
        }
    }
    sent
}

/// A whole answer.
pub(crate) fn answer(stream: &mut TcpStream, status: u16, kind: &str, body: &[u8]) -> io::Result<()> {
    let body = &raw(body);
    let retry = if status == 429 { "Retry-After: 1\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\n{retry}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

/// The head of an answer whose length is not known yet; chunks follow.
pub(crate) fn chunked(stream: &mut TcpStream) -> io::Result<()> {
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
}

/// One chunk; an empty one ends the answer.
pub(crate) fn chunk(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    let bytes = &raw(bytes);
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    stream.write_all(&framed)
}

/// Whether the client closed a connection that it has nothing to say on.
pub(crate) fn gone(stream: &TcpStream) -> bool {
    let _ = stream.set_nonblocking(true);
    let found = stream.peek(&mut [0]);
    let _ = stream.set_nonblocking(false);
    match found {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

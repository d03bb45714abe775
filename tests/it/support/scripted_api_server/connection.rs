//! One connection to the scripted server.

use super::http::{Request, answer, chunk, chunked, gone, request};
use super::script::{Gone, How, Shared, State};
use serde_json::json;
use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// How often a thread that waits looks whether its client is still there.
const LOOK: Duration = Duration::from_millis(30);
const JSON: &str = "application/json";

/// Answers requests until one side closes.
pub(crate) fn connection(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream.try_clone()?;
    while let Some(asked) = request(&mut reader)? {
        // Not a part of the lists and watches that the tests count and break.
        if asked.path == "/version" {
            let body = format!(r#"{{"major":"1","minor":"{}"}}"#, shared.state().minor);
            answer(&mut stream, 200, JSON, body.as_bytes())?;
            continue;
        }
        shared.state().requests.push(asked.clone());
        let Some(mut state) = calm(shared, &stream) else { return Ok(()) };
        if state.failing.1 > 0 {
            state.failing.1 -= 1;
            let code = state.failing.0;
            drop(state);
            answer(&mut stream, code, JSON, status(code, "InternalError", "scripted").as_bytes())?;
            continue;
        }
        let fixed = match asked.path.as_str() {
            "/apis" if !state.discovery.fails => Some(state.discovery.document()),
            _ => None,
        };
        if let Some(fixed) = fixed {
            drop(state);
            answer(&mut stream, 200, JSON, fixed.to_string().as_bytes())?;
            continue;
        }
        match state.resources.get(&asked.path).map(|r| r.refused) {
            None | Some(Some(404)) => {
                drop(state);
                // What the API server says of a group that it does not know.
                answer(&mut stream, 404, "text/plain; charset=utf-8", b"404 page not found\n")?;
            }
            Some(Some(code)) => {
                drop(state);
                answer(&mut stream, code, JSON, status(code, "Forbidden", "not for you").as_bytes())?;
            }
            Some(None) if asked.watch() => {
                drop(state);
                if watch(&mut stream, shared, &asked)? == Next::Close {
                    return Ok(());
                }
            }
            Some(None) => {
                let body = state.list(&asked);
                let halting = state.resources[&asked.path].halting;
                drop(state);
                match body {
                    Some(body) if halting => return half(&mut stream, shared, &body),
                    Some(body) => answer(&mut stream, 200, JSON, body.as_bytes())?,
                    None => answer(&mut stream, 410, JSON, expired().as_bytes())?,
                }
            }
        }
    }
    Ok(())
}

fn status(code: u16, reason: &str, message: &str) -> String {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
           "reason": reason, "code": code})
    .to_string()
}

fn expired() -> String {
    status(410, "Expired", "too old resource version")
}

/// Half of an answer, and then nothing until the client or the server goes away.
fn half(stream: &mut TcpStream, shared: &Shared, body: &str) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body.as_bytes()[..body.len() / 2])?;
    while shared.state().up && !gone(stream) {
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// The state once the server is not stalled; `None` where the client or the server went away before.
fn calm<'a>(shared: &'a Shared, stream: &TcpStream) -> Option<MutexGuard<'a, State>> {
    let mut state = shared.state();
    while state.up && state.stalled {
        (state, _) = shared.changed.wait_timeout(state, LOOK).ok()?;
        if gone(stream) {
            return None;
        }
    }
    state.up.then_some(state)
}

#[derive(PartialEq, Eq)]
enum Next {
    Request,
    Close,
}

fn watch(stream: &mut TcpStream, shared: &Shared, asked: &Request) -> io::Result<Next> {
    let from: u64 = asked.parameter("resourceVersion").parse().unwrap_or(0);
    let end = asked.parameter("timeoutSeconds").parse().ok().map(|s| Instant::now() + Duration::from_secs(s));
    let mut state = shared.state();
    if from < state.oldest {
        let gone = state.gone;
        drop(state);
        if gone == Gone::Status {
            answer(stream, 410, JSON, expired().as_bytes())?;
            return Ok(Next::Request);
        }
        chunked(stream)?;
        let object: serde_json::Value = serde_json::from_str(&expired()).unwrap();
        chunk(stream, format!("{}\n", json!({"type": "ERROR", "object": object})).as_bytes())?;
        chunk(stream, b"")?;
        return Ok(Next::Request);
    }
    let number = state.next_stream;
    state.next_stream += 1;
    state.streams.insert(number, asked.path.clone());
    let known = from.saturating_sub(state.rewind);
    let (ended, injected) = (state.resources[&asked.path].ended, state.resources[&asked.path].injected.len());
    drop(state);
    let outcome =
        chunked(stream).and_then(|()| follow(stream, shared, asked, (number, known, ended, injected), end));
    shared.state().streams.remove(&number);
    outcome
}

/// Sends what happens until the stream ends. `at`: its number, the last revision that the client knows, and what was
/// ended and injected before it.
fn follow(
    stream: &mut TcpStream,
    shared: &Shared,
    asked: &Request,
    (number, mut known, ended, mut injected): (u64, u64, u64, usize),
    end: Option<Instant>,
) -> io::Result<Next> {
    loop {
        let mut lines: Vec<Arc<str>> = Vec::new();
        let mut state = shared.state();
        loop {
            if !state.up {
                return Ok(Next::Close);
            }
            let resource = &state.resources[&asked.path];
            let over = end.is_some_and(|end| Instant::now() >= end);
            if !state.stalled && number >= state.frozen {
                if resource.ended != ended || over {
                    let how = if over { How::Clean } else { state.how };
                    state.streams.remove(&number);
                    drop(state);
                    return finish(stream, how);
                }
                lines.extend(resource.injected.iter().skip(injected).cloned());
                injected = resource.injected.len();
                let news = resource.events.iter().filter(|(revision, _)| *revision > known);
                let mut news: Vec<Arc<str>> = news.map(|(_, line)| Arc::clone(line)).collect();
                if state.by_name {
                    // The events of one object keep their order.
                    news.sort_by_cached_key(|line| name(line));
                }
                lines.append(&mut news);
                known = resource.events.last().map_or(known, |(revision, _)| known.max(*revision));
                if !lines.is_empty() {
                    break;
                }
            }
            (state, _) =
                shared.changed.wait_timeout(state, LOOK).map_err(|_| io::Error::other("poisoned"))?;
            if gone(stream) {
                return Ok(Next::Close);
            }
        }
        drop(state);
        for line in lines {
            chunk(stream, format!("{line}\n").as_bytes())?;
        }
    }
}

/// Name of the object of a line.
fn name(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(event["object"]["metadata"]["name"].as_str()?.to_owned())
}

fn finish(stream: &mut TcpStream, how: How) -> io::Result<Next> {
    match how {
        How::Clean => chunk(stream, b"").map(|()| Next::Request),
        How::Closed => Ok(Next::Close),
        How::MidLine => {
            chunk(stream, br#"{"type":"MODIFIED","object":{"metadata":{"name":"gpu-"#)?;
            Ok(Next::Close)
        }
        How::MidChunk => {
            // Of a chunk of 4096 bytes the first few.
            stream
                .write_all(b"1000\r\n{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"gpu-1\"")?;
            Ok(Next::Close)
        }
    }
}

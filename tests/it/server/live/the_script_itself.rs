//! The scripted server itself: what it says to a client that reads bytes.

use super::{namespace, network, node, soon};
use crate::support::scripted_api_server::http::Request;
use crate::support::scripted_api_server::script::{Gone, How, Script, path};
use crate::support::suite::{Outcome, Suite};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::script::lists_and_pages", lists);
    suite.add("live::script::watches", watches);
    suite.add("live::script::refuses_and_fails", refuses);
    suite.add("live::script::ends_streams", ends);
    suite.add("live::script::is_gone_after_a_compaction", gone);
    suite.add("live::script::stalls_and_goes_down", stalls);
    suite.add("live::script::connections_are_counted", counted);
    suite.add("live::script::impolite_requests_are_found", impolite);
}

/// A connection to the script.
struct Reader(BufReader<TcpStream>);

impl Reader {
    fn ask(script: &Script, target: &str) -> Result<Self, String> {
        Self::ask_for(script, target, "identity")
    }

    fn ask_for(script: &Script, target: &str, encoding: &str) -> Result<Self, String> {
        let mut stream = TcpStream::connect(script.address).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(|e| e.to_string())?;
        write!(stream, "GET {target} HTTP/1.1\r\nHost: h\r\nAccept-Encoding: {encoding}\r\n\r\n")
            .map_err(|e| e.to_string())?;
        Ok(Self(BufReader::new(stream)))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.0.read_line(&mut line).map_err(|e| e.to_string())?;
        Ok(line.trim_end().to_owned())
    }

    /// The head; status and length.
    fn head(&mut self) -> Result<(u16, usize), String> {
        let status = self.line()?.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or("no status")?;
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok((status, length));
            }
            length = line.strip_prefix("Content-Length: ").map_or(length, |l| l.parse().unwrap());
        }
    }

    fn body(&mut self) -> Result<(u16, Value), String> {
        let (status, length) = self.head()?;
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
    }

    /// The next chunk; `None` in the end, whether it is said or the connection is closed.
    fn chunk(&mut self) -> Result<Option<String>, String> {
        let line = self.line()?;
        let size = usize::from_str_radix(&line, 16).unwrap_or(0);
        let mut bytes = vec![0; size + 2];
        if size == 0 || self.0.read_exact(&mut bytes).is_err() {
            return Ok(None);
        }
        bytes.truncate(size);
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn event(&mut self) -> Result<(String, Value), String> {
        let chunk = self.chunk()?.ok_or("the stream ended")?;
        let event: Value = serde_json::from_str(&chunk).map_err(|e| format!("{e}: {chunk}"))?;
        Ok((event["type"].as_str().unwrap_or_default().to_owned(), event["object"].clone()))
    }
}

fn get(script: &Script, target: &str) -> Result<(u16, Value), String> {
    Reader::ask(script, target)?.body()
}

fn watch(script: &Script, kind: &str, revision: &str) -> Result<Reader, String> {
    let target = format!(
        "{}?watch=true&resourceVersion={revision}&allowWatchBookmarks=true&timeoutSeconds=30",
        path(kind)
    );
    let open = script.streams();
    let mut reader = Reader::ask(script, &target)?;
    if reader.head()?.0 != 200 {
        return Err("refused".into());
    }
    soon("the stream is open", || Ok(script.streams() > open))?;
    Ok(reader)
}

/// A few nodes and a network.
fn script() -> Result<Script, String> {
    let script = Script::start()?;
    for n in 0..5 {
        script.put("Node", node(&format!("n{n}"), "east", "p"));
    }
    script.put("NetworkAttachmentDefinition", network("east"));
    Ok(script)
}

fn lists() -> Outcome {
    let script = script()?;
    let mut token = String::new();
    let mut names = Vec::new();
    for page in 0..3 {
        let (status, list) = get(&script, &format!("/api/v1/nodes?limit=2&continue={token}"))?;
        assert_eq!((status, list["kind"].as_str()), (200, Some("NodeList")));
        assert_eq!(list["metadata"]["resourceVersion"], "106");
        let items = list["items"].as_array().unwrap();
        assert!(items.iter().all(|i| i["kind"].is_null() && i["apiVersion"].is_null()));
        names.extend(items.iter().map(|i| i["metadata"]["name"].as_str().unwrap_or_default().to_owned()));
        let next = list["metadata"]["continue"].as_str().unwrap_or_default();
        assert_eq!(next.is_empty(), page == 2);
        token = next.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        if page == 0 {
            // The list is one of the moment in which it began.
            script.put("Node", node("n0-later", "east", "p"));
        }
    }
    assert_eq!(names, ["n0", "n1", "n2", "n3", "n4"]);
    let networks = get(&script, &format!("{}?limit=500", path("NetworkAttachmentDefinition")))?.1;
    assert_eq!(networks["items"][0]["apiVersion"], "k8s.cni.cncf.io/v1");
    assert_eq!(networks["items"][0]["kind"], "NetworkAttachmentDefinition");
    let first = get(&script, "/api/v1/nodes?limit=2")?.1;
    assert_eq!(first["metadata"]["remainingItemCount"], 4);
    script.page(1);
    assert_eq!(get(&script, "/api/v1/nodes?limit=2&continue=Node%2B107%2F4%3D%3D")?.0, 410);
    assert_eq!(get(&script, "/api/v1/nodes?limit=2")?.1["items"].as_array().map(Vec::len), Some(1));
    Ok(())
}

fn watches() -> Outcome {
    let script = script()?;
    let mut stream = watch(&script, "Node", "103")?;
    for name in ["n3", "n4"] {
        let (what, object) = stream.event()?;
        assert_eq!((what.as_str(), object["metadata"]["name"].as_str()), ("ADDED", Some(name)));
    }
    script.put("Namespace", namespace("other", None));
    script.put("Node", node("n0", "west", "p"));
    let (what, object) = stream.event()?;
    assert_eq!((what.as_str(), object["metadata"]["resourceVersion"].as_str()), ("MODIFIED", Some("108")));
    script.delete("Node", "", "n1");
    let (what, object) = stream.event()?;
    assert_eq!((what.as_str(), object["metadata"]["resourceVersion"].as_str()), ("DELETED", Some("109")));
    assert_eq!(object["kind"], "Node");
    let marked = script.bookmark().to_string();
    let (what, object) = stream.event()?;
    assert_eq!((what.as_str(), object["metadata"]["resourceVersion"].as_str()), ("BOOKMARK", Some(&*marked)));
    script.line("Node", "not JSON");
    assert_eq!(stream.chunk()?.as_deref(), Some("not JSON\n"));
    // Its time is over when the client said.
    let mut short = Reader::ask(&script, "/api/v1/nodes?watch=true&resourceVersion=110&timeoutSeconds=1")?;
    let begun = Instant::now();
    assert_eq!(short.head()?.0, 200);
    assert_eq!(short.chunk()?, None);
    assert!(begun.elapsed() >= Duration::from_millis(900));
    Ok(())
}

fn refuses() -> Outcome {
    let script = script()?;
    let mut stream = watch(&script, "Node", "106")?;
    script.refuse("Node", Some(403));
    assert_eq!(stream.chunk()?, None);
    let (status, body) = get(&script, "/api/v1/nodes?limit=1")?;
    assert_eq!((status, body["code"].as_u64()), (403, Some(403)));
    script.refuse("Node", Some(404));
    assert_eq!(get(&script, "/api/v1/nodes?limit=1")?, (404, Value::Null));
    assert_eq!(get(&script, "/api/v1/endpoints?limit=1")?.0, 404);
    script.refuse("Node", None);
    script.fail(503, 2);
    let codes: Vec<u16> =
        (0..3).map(|_| get(&script, "/api/v1/nodes?limit=1").map(|a| a.0)).collect::<Result<_, _>>()?;
    assert_eq!(codes, [503, 503, 200]);
    assert_eq!(script.failures_left(), 0);
    Ok(())
}

fn ends() -> Outcome {
    let script = script()?;
    let mut stream = watch(&script, "Node", "106")?;
    script.drop_streams(How::Clean);
    assert_eq!(stream.line()?, "0");
    assert_eq!(stream.line()?, "");
    let mut stream = watch(&script, "Node", "106")?;
    script.drop_streams(How::Closed);
    assert_eq!(stream.0.read(&mut [0; 9]).map_err(|e| e.to_string())?, 0);
    let mut stream = watch(&script, "Node", "106")?;
    script.drop_streams(How::MidLine);
    let half = stream.chunk()?.unwrap();
    assert!(!half.ends_with('\n') && serde_json::from_str::<Value>(&half).is_err());
    assert_eq!(stream.0.read(&mut [0; 9]).map_err(|e| e.to_string())?, 0);
    Ok(soon("no stream is left", || Ok(script.streams() == 0))?)
}

fn gone() -> Outcome {
    let script = script()?;
    let mut open = watch(&script, "Node", "106")?;
    let target = "/api/v1/nodes?watch=true&resourceVersion=106&timeoutSeconds=9";
    script.compact(Gone::Status);
    assert_eq!(get(&script, target)?.0, 410);
    script.compact(Gone::Event);
    let mut stream = Reader::ask(&script, target)?;
    assert_eq!(stream.head()?.0, 200);
    let (what, object) = stream.event()?;
    assert_eq!((what.as_str(), object["code"].as_u64()), ("ERROR", Some(410)));
    assert_eq!(stream.chunk()?, None);
    // Streams that were open miss nothing, and a list of now leads to one that works.
    script.put("Node", node("n9", "east", "p"));
    assert_eq!(open.event()?.1["metadata"]["name"], "n9");
    let list = get(&script, "/api/v1/nodes?limit=500")?.1;
    watch(&script, "Node", list["metadata"]["resourceVersion"].as_str().unwrap())?;
    Ok(())
}

fn stalls() -> Outcome {
    let mut script = script()?;
    let mut stream = watch(&script, "Node", "106")?;
    script.stall(true);
    let mut waits = Reader::ask(&script, "/api/v1/nodes?limit=1")?;
    waits.0.get_ref().set_read_timeout(Some(Duration::from_millis(200))).map_err(|e| e.to_string())?;
    assert!(waits.head().is_err(), "it is answered");
    script.put("Node", node("n9", "east", "p"));
    stream.0.get_ref().set_read_timeout(Some(Duration::from_millis(200))).map_err(|e| e.to_string())?;
    assert!(stream.chunk().is_err(), "it goes on");
    for reader in [&waits, &stream] {
        reader.0.get_ref().set_read_timeout(Some(Duration::from_secs(5))).map_err(|e| e.to_string())?;
    }
    script.stall(false);
    assert_eq!(waits.body()?.0, 200);
    assert_eq!(stream.event()?.1["metadata"]["name"], "n9");
    script.freeze_streams();
    script.put("Node", node("n9", "west", "p"));
    stream.0.get_ref().set_read_timeout(Some(Duration::from_millis(200))).map_err(|e| e.to_string())?;
    assert!(stream.chunk().is_err(), "it goes on");
    assert_eq!(watch(&script, "Node", "107")?.event()?.0, "MODIFIED");
    script.down();
    assert!(Reader::ask(&script, "/api/v1/nodes?limit=1").is_err(), "it is up");
    soon("nothing is open", || Ok(script.connections() == 0))?;
    let address = script.address;
    script.up()?;
    assert_eq!(script.address, address);
    assert_eq!(get(&script, "/api/v1/nodes?limit=1")?.0, 200);
    Ok(())
}

fn counted() -> Outcome {
    let script = script()?;
    let streams: Vec<Reader> = (0..4).map(|_| watch(&script, "Node", "106")).collect::<Result<_, _>>()?;
    assert_eq!((script.connections(), script.streams()), (4, 4));
    drop(streams);
    Ok(soon("all are closed", || Ok((script.connections(), script.streams()) == (0, 0)))?)
}

fn impolite() -> Outcome {
    let bad = [
        "limit=500&resourceVersion=0",
        "",
        "limit=0",
        "limit=100000",
        "watch=true&allowWatchBookmarks=true&timeoutSeconds=5",
        "watch=true&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=5",
        "watch=true&resourceVersion=106&timeoutSeconds=5",
        "watch=true&resourceVersion=106&allowWatchBookmarks=true",
    ];
    for query in bad {
        let script = script()?;
        Reader::ask(&script, &format!("/api/v1/nodes?{query}"))?.head()?;
        assert!(super::polite(&script).is_err(), "{query}");
    }
    let compressing = script()?;
    Reader::ask_for(&compressing, "/api/v1/nodes?limit=500", "gzip")?.head()?;
    assert!(super::polite(&compressing).is_err(), "a list in gzip");
    let script = script()?;
    get(&script, "/api/v1/nodes?limit=500")?;
    watch(&script, "Node", "106")?;
    super::polite(&script)?;
    let asked: Vec<Request> = script.asked("Node", true);
    assert_eq!((asked.len(), asked[0].parameter("resourceVersion")), (1, "106"));
    Ok(())
}

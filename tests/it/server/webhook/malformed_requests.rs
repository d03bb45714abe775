//! What an attacker sends: requests, bodies and handshakes of odd shapes. Each gets an answer below 500 or a closed
//! connection, none ends the server or counts as a bug of it, and nothing of them is left behind.
//!
//! `FABRIC_ADMISSION_ATTACK` is the number of mixed requests of the long form, such as 100000.

use crate::support::round_trip::same;
use crate::support::server::{Answer, PROFILE, Server, bare_pod, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::http_of_any_shape_is_answered_or_closed", http);
    suite.add("webhook::json_of_any_shape_is_answered", bodies);
    suite.add("webhook::bytes_that_are_not_utf8_hide_nothing", not_utf8);
    suite.add("webhook::handshakes_of_any_shape_are_closed", handshakes);
    suite.add("webhook::a_mix_of_attacks_leaves_nothing_behind", mixed);
}

fn server() -> Result<Server, String> {
    Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])
}

fn good() -> String {
    review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string()
}

/// Runs work on each item, several at a time; the failures.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = work(item) {
                        wrong.lock().unwrap().push(error);
                    }
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// The server serves, and counts no bug of its own.
fn is_well(server: &Server) -> Outcome {
    assert_eq!(server.post("/mutate", good().as_bytes())?.status, 200);
    assert_eq!(server.metric("fabric_admission_panics_total")?, 0.0);
    assert_eq!(server.admin("/readyz")?.status, 200);
    Ok(())
}

/// Sends bytes within TLS; the status of the answer, or `None` where the connection is closed.
fn status(server: &Server, bytes: &[u8]) -> Result<Option<u16>, String> {
    let mut client = server.client()?;
    // The server may answer and close before all is sent.
    let _ = client.stream.write_all(bytes).and_then(|()| client.stream.flush());
    match Answer::read(&mut client.stream) {
        Ok(answer) => Ok(Some(answer.status)),
        Err(error) if error.contains("timed out") || error.contains("unavailable") => Err(error),
        Err(_) => Ok(None),
    }
}

/// A name, the request, and whether it is one that is answered 200.
fn requests() -> Vec<(String, Vec<u8>, bool)> {
    let body = good();
    let length = body.len();
    let json = "Host: h\r\nContent-Type: application/json\r\n";
    let whole = |start: &str, headers: &str| {
        format!("{start}\r\n{json}{headers}Content-Length: {length}\r\n\r\n{body}")
    };
    let chunked =
        |chunks: &str| format!("POST /mutate HTTP/1.1\r\n{json}Transfer-Encoding: chunked\r\n\r\n{chunks}");
    let mut all: Vec<(String, Vec<u8>, bool)> = Vec::new();
    let mut add =
        |name: &str, bytes: String, fine: bool| all.push((name.to_owned(), bytes.into_bytes(), fine));
    add("as it should be", whole("POST /mutate HTTP/1.1", ""), true);
    for method in
        ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "post", "BREW", "", "P\0ST"]
    {
        // A HEAD has no body, so its answer has none either.
        add(
            &format!("method {method:?}"),
            whole(&format!("{method} /mutate HTTP/1.1"), "Connection: close\r\n"),
            false,
        );
    }
    for path in [
        "/",
        "//mutate",
        "/mutate/",
        "/mutate/..",
        "/%6dutate",
        "/MUTATE",
        "*",
        "mutate",
        "",
        "/mut\0ate",
        "/\u{e9}",
    ] {
        add(&format!("path {path:?}"), whole(&format!("POST {path} HTTP/1.1"), ""), false);
    }
    add("path of 60 KiB", whole(&format!("POST /{} HTTP/1.1", "a".repeat(60 << 10)), ""), false);
    add("fragment", whole("POST /mutate#x HTTP/1.1", ""), true);
    add("query", whole("POST /mutate?timeout=;;&=&timeout HTTP/1.1", ""), true);
    add("whole URI", whole("POST http://h/mutate HTTP/1.1", ""), true);
    for version in ["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/9", "http/1.1", "", "HTTP/1.1 x"] {
        add(&format!("version {version:?}"), whole(&format!("POST /mutate {version}"), ""), false);
    }
    add("HTTP/1.0", whole("POST /mutate HTTP/1.0", ""), true);
    add("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), false);
    let many = (0..120).map(|i| format!("x{i}: y\r\n")).collect::<String>();
    let long = format!("x: {}\r\n", "y".repeat(40 << 10));
    for (name, headers, fine) in [
        ("120 headers", many.as_str(), false),
        ("header of 40 KiB", &long, false),
        ("header with NUL", "x: a\0b\r\n", false),
        ("header without colon", "x\r\n", false),
        ("space before the colon", "x : y\r\n", false),
        ("folded header", "x: y\r\n z\r\n", false),
        ("header without name", ": y\r\n", false),
        ("same length twice", &format!("Content-Length: {length}\r\n"), true),
        ("another length", "Content-Length: 1\r\n", false),
        ("negative length", "Content-Length: -1\r\n", false),
        ("hexadecimal length", "Content-Length: 0x10\r\n", false),
        ("length with a sign", "Content-Length: +2\r\n", false),
        ("endless length", "Content-Length: 99999999999999999999\r\n", false),
        ("length and chunks", "Transfer-Encoding: chunked\r\n", false),
        ("unknown transfer", "Transfer-Encoding: gzip\r\n", false),
        ("another content type", "Content-Type: text/xml\r\n", true),
        ("compressed, it says", "Content-Encoding: gzip\r\n", true),
        ("unknown expectation", "Expect: nothing\r\n", true),
        ("upgrade", "Connection: Upgrade\r\nUpgrade: h2c\r\n", true),
        ("two hosts", "Host: other\r\n", true),
    ] {
        add(name, whole("POST /mutate HTTP/1.1", headers), fine);
    }
    add("chunks", chunked(&format!("{length:x}\r\n{body}\r\n0\r\n\r\n")), true);
    add("chunks with a trailer", chunked(&format!("{length:x}\r\n{body}\r\n0\r\nx: y\r\n\r\n")), true);
    let cut = |each: usize| {
        let long = format!("{}{body}", " ".repeat(4096));
        let chunk = |part: &[u8]| format!("{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part));
        chunked(&format!("{}0\r\n\r\n", long.as_bytes().chunks(each).map(chunk).collect::<String>()))
    };
    add("chunks of 100 bytes", cut(100), true);
    add("chunks of one byte", cut(1), false);
    for (name, chunks) in [
        ("size that is none", "zz\r\n"),
        ("size without end", "FFFFFFFFFFFFFFFFFF\r\n"),
        ("negative size", "-1\r\n"),
        ("no line end", "2\r\n{}0\r\n\r\n"),
        ("long extension", &format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(40 << 10))),
    ] {
        add(name, chunked(chunks), false);
    }
    add("line feeds only", whole("POST /mutate HTTP/1.1", "").replace("\r\n", "\n"), true);
    add("bytes", "\u{1}\u{2}\u{3}\u{0}\r\n\r\n".to_owned(), false);
    add("nothing but line ends", format!("{}x\r\n\r\n", "\r\n".repeat(100)), false);
    all
}

fn http() -> Outcome {
    let server = server()?;
    let requests = requests();
    assert!(requests.len() >= 57, "{}", requests.len());
    let wrong = each(&requests, |(name, bytes, fine)| {
        let found = status(&server, bytes).map_err(|error| format!("{name}: {error}"))?;
        let as_expected =
            if *fine { found == Some(200) } else { found.is_none_or(|s| (400..500).contains(&s)) };
        if as_expected { Ok(()) } else { Err(format!("{name}: {found:?}")) }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
    is_well(&server)
}

/// Reviews with another value in each of their fields, and texts that are not JSON.
fn odd_bodies() -> Vec<(String, Vec<u8>)> {
    let review: Value = review("u", ("", "Pod"), "CREATE", &bare_pod());
    let deep = (0..100).fold(json!(0), |value, _| json!([value]));
    let values = [Value::Null, json!(0), json!(""), json!([]), json!({}), json!(true), deep];
    let mut all = Vec::new();
    for pointer in [
        "/apiVersion",
        "/kind",
        "/request",
        "/request/uid",
        "/request/kind",
        "/request/kind/kind",
        "/request/namespace",
        "/request/operation",
        "/request/object",
        "/request/object/metadata",
        "/request/object/metadata/annotations",
        "/request/object/spec",
        "/request/object/spec/containers",
        "/request/object/spec/containers/0",
        "/request/object/spec/containers/0/resources/limits",
    ] {
        for value in &values {
            let mut review = review.clone();
            *review.pointer_mut(pointer).unwrap() = value.clone();
            all.push((format!("{pointer}: {value}"), review.to_string().into_bytes()));
        }
    }
    let text = review.to_string();
    let around = |inside: &str| text.replace("\"training\"", inside).into_bytes();
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("byte order mark", format!("\u{feff}{text}").into_bytes()),
        ("half", text.as_bytes()[..text.len() / 2].to_vec()),
        ("twice", format!("{text}{text}").into_bytes()),
        ("not UTF-8", b"{\"a\":\"\xff\"}".to_vec()),
        ("deep lists", "[".repeat(100_000).into_bytes()),
        ("deep maps", "{\"a\":".repeat(50_000).into_bytes()),
        ("deep in the object", around(&format!("{}{}", "[".repeat(20_000), "]".repeat(20_000)))),
        ("half a surrogate", around("\"\\ud800\"")),
        ("NUL", around("\"\\u0000\"")),
        ("large number", around("1e999")),
        ("not a number", around("NaN")),
        ("comment", around("/* */ 1")),
        ("comma at the end", text.replace("}}", "},}").into_bytes()),
        ("single quotes", around("'a'")),
        ("keys twice", text.replacen('{', "{\"request\":null,", 1).into_bytes()),
    ] {
        all.push((name.to_owned(), bytes));
    }
    all
}

/// The API server sends some JSON of an object as its author wrote it, bytes that are not UTF-8 included. An answer of 400
/// would let the object past an entry whose failurePolicy is Ignore.
fn not_utf8() -> Outcome {
    let server = Server::start(&[], &["--workloads", "deny"])?;
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = json!("[{");
    pod["metadata"]["managedFields"] = json!([{"manager": "m", "fieldsV1": {"f:MARK": {}}}]);
    let template = json!({"metadata": pod["metadata"], "spec": pod["spec"]});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": pod["metadata"], "spec": {"template": template}});
    for (path, kind, object) in [
        ("/validate", ("", "Pod"), &pod),
        ("/audit", ("", "Pod"), &pod),
        ("/validate-workload", ("batch", "Job"), &job),
    ] {
        let text = review("u", kind, "CREATE", object).to_string();
        let (before, after) = text.split_once("MARK").ok_or("no mark")?;
        let raw = [before.as_bytes(), b"\xff", after.as_bytes()].concat();
        let (plain, raw) = (server.post(path, text.as_bytes())?, server.post(path, &raw)?);
        assert_eq!(raw.status, 200, "{path}: {}", raw.body);
        assert!(plain.body.contains("FAB101"), "{path}: {}", plain.body);
        same(path, plain.untimed()?, raw.untimed()?)?;
    }
    Ok(())
}

fn bodies() -> Outcome {
    let server = server()?;
    let bodies = odd_bodies();
    assert!(bodies.len() >= 83, "{}", bodies.len());
    let wrong = each(&bodies, |(name, body)| {
        for path in ["/mutate", "/validate", "/audit", "/validate-workload", "/validate-object"] {
            let answer = server.post(path, body).map_err(|error| format!("{path} {name}: {error}"))?;
            if !matches!(answer.status, 200 | 400) {
                return Err(format!("{path} {name}: {}", answer.status));
            }
        }
        Ok(())
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
    is_well(&server)
}

/// First bytes of a connection that are not a handshake of TLS 1.3.
fn hellos() -> Vec<Vec<u8>> {
    // A record of a version with a ClientHello of one.
    let hello = |record: [u8; 2], version: [u8; 2]| {
        let mut hello = vec![version[0], version[1]];
        hello.extend([7; 32]);
        hello.extend([0, 0, 2, 0, 47, 1, 0]);
        let mut bytes = vec![22, record[0], record[1], 0, u8::try_from(hello.len() + 4).unwrap()];
        bytes.extend([1, 0, 0, u8::try_from(hello.len()).unwrap()]);
        bytes.extend(hello);
        bytes
    };
    let mut all = vec![
        b"GET / HTTP/1.1\r\nHost: h\r\n\r\n".to_vec(),
        b"SSH-2.0-x\r\n".to_vec(),
        vec![0; 512],
        vec![22, 3, 1, 255, 255, 1, 255, 255, 255],
        vec![21, 3, 3, 0, 2, 2, 0],
        vec![23, 3, 3, 0, 1, 0],
        vec![128, 46, 1, 0, 2, 0, 21, 0, 0, 0, 16, 0, 0, 5],
    ];
    // SSL 3.0, TLS 1.0, 1.1, 1.2 and one that is not there yet.
    all.extend([[3, 0], [3, 1], [3, 2], [3, 3], [3, 9]].map(|version| hello([3, 1], version)));
    all
}

fn handshakes() -> Outcome {
    let server = server()?;
    // Each of them many times at once.
    let hellos: Vec<Vec<u8>> = hellos().into_iter().cycle().take(600).collect();
    let wrong = each(&hellos, |bytes| {
        let mut stream = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).map_err(|e| e.to_string())?;
        let _ = stream.write_all(bytes);
        // An alert, or nothing; then the end.
        let mut answer = Vec::new();
        match stream.take(1000).read_to_end(&mut answer) {
            Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                Err(format!("open after 20 s: {bytes:?}"))
            }
            _ if answer.is_empty() || answer[0] == 21 => Ok(()),
            _ => Err(format!("{bytes:?}: {answer:?}")),
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
    is_well(&server)
}

/// All of them in turns, and good ones between, which are answered as ever.
fn mixed() -> Outcome {
    let count: usize =
        std::env::var("FABRIC_ADMISSION_ATTACK").ok().and_then(|n| n.parse().ok()).unwrap_or(1_500);
    let server = server()?;
    let (requests, bodies, hellos, good) = (requests(), odd_bodies(), hellos(), good());
    is_well(&server)?;
    let before = (server.belongings(), server.status("VmRSS").unwrap_or_default());
    let numbers: Vec<usize> = (0..count).collect();
    let wrong = each(&numbers, |number| match number % 4 {
        0 => status(&server, &requests[number / 4 % requests.len()].1).map(drop),
        1 => server.post("/mutate", &bodies[number / 4 % bodies.len()].1).map(drop),
        2 => {
            let mut stream = TcpStream::connect(server.webhook).map_err(|e| e.to_string())?;
            let _ = stream.write_all(&hellos[number / 4 % hellos.len()]);
            Ok(())
        }
        _ => match server.post("/mutate", good.as_bytes())?.status {
            200 => Ok(()),
            status => Err(format!("a good request: {status}")),
        },
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
    is_well(&server)?;
    super::requests_over_budget_get_503::until("no connection is left", || {
        Ok(server.metric("fabric_admission_connections")? == 0.0)
    })?;
    let after = (server.belongings(), server.status("VmRSS").unwrap_or_default());
    eprintln!("{count} requests: threads and files, and KiB: {before:?}, then {after:?}");
    if let (Some(before), Some(after)) = (before.0, after.0) {
        assert!(after.1 <= before.1 + 4, "files: {before:?}, then {after:?}");
    }
    assert!(after.1 < before.1 + (48 << 10), "KiB: {before:?}, then {after:?}");
    Ok(())
}

//! Clients that take no answers hold little memory, in the server and in the kernel, and keep no other client out.

use super::requests_over_budget_get_503::{head, until};
use crate::support::generated_world::World;
use crate::support::jobset_with_long_decision::jobset_with_long_decision;
use crate::support::server::{Client, bare_pod, review, trusting};
use crate::support::server_in_process::InProcess;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::server::Limits;
use serde_json::json;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::answers_that_nobody_takes_make_room", make_room);
    suite.add("webhook::connections_that_ended_during_a_decision_keep_nobody_out", ended);
    suite.add("webhook::the_kernel_keeps_little_for_a_client_that_takes_no_answers", kernel);
}

/// A client at 127.0.0.`last` with small buffers: what it does not take stays with the server.
fn client_with_buffers(server: &InProcess, last: u8, bytes: u32) -> Result<Client, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let connected = runtime.map_err(|e| e.to_string())?.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(bytes)?;
        socket.set_send_buffer_size(bytes)?;
        socket.bind(SocketAddr::new(IpAddr::from([127, 0, 0, last]), 0))?;
        let stream = socket.connect(server.webhook).await?.into_std()?;
        stream.set_nonblocking(false)?;
        Ok::<_, std::io::Error>(stream)
    });
    let config = trusting(&server.ca, rustls::DEFAULT_VERSIONS)?.with_no_client_auth();
    Client::over(connected.map_err(|e| e.to_string())?, config)
}

/// A server, and a request whose answer is longer than itself: it has the pod's networks and those that are added.
fn server_with_long_answers(limits: Limits) -> Result<(InProcess, String), String> {
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": "h100"}, "spec": {"base": "roce-sriov"}});
    let world = World::new(&json!({"profiles": [profile]}));
    let mut pod = bare_pod();
    let arguments = vec![""; 80_000];
    let networks = json!([{"name": "own", "namespace": "training", "cni-args": {"a": arguments}}]);
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = json!(networks.to_string());
    let body = review("u", ("", "Pod"), "CREATE", &pod).to_string();
    Ok((InProcess::start(limits, world.snapshot)?, body))
}

/// Answers of 540 kB to four addresses: of the 3 MiB for large bodies, another address may have three quarters of the rest. None of
/// the answers is late so far.
fn make_room() -> Outcome {
    let limits = Limits { body_budget: 4 << 20, write: Duration::from_secs(60), ..Limits::default() };
    let (server, body) = server_with_long_answers(limits)?;
    let held = || server.metric("fabric_admission_held_bytes");
    let mut crowd = Vec::new();
    for last in 10..14 {
        let mut client = client_with_buffers(&server, last, 4096)?;
        client.stream.write_all(head(body.len()).as_bytes()).map_err(|e| e.to_string())?;
        client.stream.write_all(body.as_bytes()).map_err(|e| e.to_string())?;
        crowd.push(client);
        until("its answer is held", || Ok(held()? > 500_000.0 * crowd.len() as f64))?;
    }
    std::thread::sleep(Duration::from_millis(700));
    assert!(held()? > 2_000_000.0, "{} bytes: the answers are given up before anybody needs room", held()?);
    let other = vec![b'1'; 900 << 10];
    let answer = server.client_at(2)?.post("/mutate", &other)?;
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(server.shed("slow_answer")? >= 1.0);
    // Who takes an answer in time gets all of it.
    let answer = server.client_at(3)?.post("/mutate", body.as_bytes())?;
    assert!(answer.status == 200 && answer.body.ends_with('}'), "{} {}", answer.status, answer.body.len());
    drop(crowd);
    until("nothing is held", || Ok(held()? == 0.0))?;
    Ok(())
}

/// Clients send a request, end TLS while it is decided on, and keep TCP open. Nobody has a use for their connections.
fn ended() -> Outcome {
    const CROWD: u8 = 6;
    let limits = Limits { connections: CROWD.into(), write: Duration::from_secs(60), ..Limits::default() };
    let (server, _) = server_with_long_answers(limits)?;
    let body = jobset_with_long_decision(250);
    let request = head(body.len()).replace("/mutate", "/validate-workload") + &body;
    let mut crowd = Vec::new();
    for i in 0..CROWD {
        let mut client = server.client_at(10 + i / 2)?;
        client.stream.write_all(request.as_bytes()).map_err(|e| e.to_string())?;
        until("it is decided on", || Ok(server.metric("fabric_admission_requests_in_flight")? > 0.0))?;
        client.stream.conn.send_close_notify();
        client.stream.flush().map_err(|e| e.to_string())?;
        until("it has ended", || Ok(server.metric("fabric_admission_connections")? == 0.0))?;
        crowd.push(client);
    }
    let pod = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
    let answer = server.client_at(2)?.post("/mutate", pod.as_bytes())?;
    assert_eq!((answer.status, server.shed("connections")?), (200, 0.0));
    drop(crowd);
    Ok(())
}

/// How much a client can send that takes no answer to it.
fn kernel() -> Outcome {
    let limits = Limits { write: Duration::from_secs(60), ..Limits::default() };
    let (server, body) = server_with_long_answers(limits)?;
    // Buffers of the kernel grow while a client is fast.
    let mut client = client_with_buffers(&server, 2, 32 << 10)?;
    for _ in 0..4 {
        let answer = client.post("/mutate", body.as_bytes())?;
        assert!(answer.status == 200 && answer.body.len() > 400_000, "{}", answer.body);
    }
    client.stream.sock.set_write_timeout(Some(Duration::from_secs(1))).map_err(|e| e.to_string())?;
    let (request, mut sent) = ([head(body.len()).as_bytes(), body.as_bytes()].concat(), 0);
    let blocked = request.chunks(4096).cycle().take(1 << 14).find(|part| {
        sent += part.len();
        client.stream.write_all(part).is_err()
    });
    assert!(blocked.is_some(), "{sent} bytes without an answer that is taken");
    // What is decided, what is in buffers, and a part of a request that goes on to the next.
    let most = 3 * request.len() + (1 << 20);
    assert!(sent < most, "{sent} bytes of requests of {}", request.len());
    Ok(())
}

//! Commands with `--live` and an API server that they cannot reach, that never answers, or that is old: the error names
//! the server and the reason.

use super::{node, profile, site};
use crate::support::round_trip::same;
use crate::support::scripted_api_server::discovery::Discovery;
use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::an_error_names_the_server_and_the_reason", reasons);
    suite.add("live::audit_gives_up_a_server_that_never_answers", silent);
    suite.add("live::review_and_why_warn_of_an_old_server", old_server);
    suite.add("live::review_is_partial_without_a_right", forbidden);
    suite.add("live::review_needs_no_right_to_kinds_that_do_not_exist", absent);
}

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c, image: i}]\n";

fn at(address: &str) -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    scratch.write("pod.yaml", POD)?;
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: \"{address}\"}}}}]\n\
         contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
    );
    scratch.write("kubeconfig", kubeconfig)?;
    Ok(scratch)
}

fn live(scratch: &Scratch, args: &[&str]) -> Result<Ran, String> {
    run(&[args, &["--kubeconfig", "kubeconfig"]].concat(), b"", scratch.path())
}

fn reasons() -> Outcome {
    // A port that nobody listens on, and a server whose certificate the kubeconfig does not trust.
    let free =
        TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).map_err(|e| e.to_string())?;
    let server = Server::start(&[], &[])?;
    for (address, reason) in [
        (format!("http://{free}"), "Connection refused"),
        (format!("https://{}", server.webhook), "invalid peer certificate"),
    ] {
        let scratch = at(&address)?;
        for (args, start) in [
            (&["review", "--live", "pod.yaml"][..], "error: --live: "),
            (&["audit", "--live"], "error: --live: "),
            (&["discover", "--live"], "error: --live: "),
            (&["doctor"], "error: "),
        ] {
            let ran = live(&scratch, args)?;
            same(&format!("exit code of {args:?}: {}", ran.stderr), 3, ran.code)?;
            let named = ran.stderr.starts_with(&format!("{start}{address}: ")) && ran.stderr.contains(reason);
            assert!(named && !ran.stderr.contains("ServiceError"), "{args:?}: {}", ran.stderr);
        }
    }
    Ok(())
}

/// The kernel accepts the connections; nobody reads from them.
fn silent() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    for scheme in ["http", "https"] {
        let began = Instant::now();
        let ran =
            live(&at(&format!("{scheme}://{address}"))?, &["audit", "--live", "--request-timeout", "1"])?;
        same(&format!("exit code: {}", ran.stderr), 3, ran.code)?;
        let message = format!(
            "error: --live: {scheme}://{address}: version: no response from the API server within 1 s\n"
        );
        same("message", message, ran.stderr)?;
        // Three requests of 1 s, and pauses of 1 s and 2 s.
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
    Ok(())
}

fn old_server() -> Outcome {
    let script = site()?;
    script.put("FabricProfile", profile("east", "x.com/east"));
    script.put("Node", node("gpu-1", "east", "p"));
    let scratch = Scratch::new()?;
    scratch.write("pod.yaml", POD)?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    for command in ["review", "why"] {
        let warning = "warning: the API server is Kubernetes 1.30; the oldest supported version is 1.33\n";
        same("stderr", "", &live(&scratch, &[command, "--live", "pod.yaml"])?.stderr)?;
        script.minor("30");
        let ran = live(&scratch, &[command, "--live", "pod.yaml"])?;
        same(&format!("stderr of {command}"), warning, &ran.stderr)?;
        same("exit code", 0, ran.code)?;
        script.minor("34");
    }
    Ok(())
}

/// Each format marks the result: a reader of a file does not see stderr.
fn forbidden() -> Outcome {
    let script = site()?;
    script.refuse("Node", Some(403));
    script.refuse("SriovNetwork", Some(403));
    let scratch = Scratch::new()?;
    scratch.write("pod.yaml", POD)?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    for (format, mark) in [
        ("text", "; partial result: 1 input unreadable"),
        (
            "json",
            "{\"file\":\"--live\",\"line\":1,\"column\":1,\"message\":\"no permission to read Node, so objects",
        ),
        ("yaml", "# partial result: 1 input unreadable\n"),
        ("diff", "# partial result: 1 input unreadable\n"),
        ("patch", "{\"partial\":true,\"unreadable\":1,\"patch\":[]}\n"),
        ("sarif", "The result is partial: 2 errors of unreadable inputs"),
        ("sarif", "\"executionSuccessful\":false"),
        ("junit", "<testsuite name=\"unreadable inputs\" tests=\"2\""),
        ("github", "::error file=--live,"),
        ("gitlab", "unreadable-input"),
    ] {
        let ran = live(&scratch, &["review", "--live", "pod.yaml", "-o", format])?;
        same(&format!("exit code of {format}: {}", ran.stderr), 2, ran.code)?;
        assert!(ran.stdout.contains(mark), "{format}: {}", ran.stdout);
        for kind in ["Node", "SriovNetwork"] {
            let warning = format!("warning: --live: no permission to read {kind}, so objects");
            same(&warning, 1, ran.stderr.matches(&warning).count())?;
        }
    }
    // Two entries, of which no reader may take one for the other.
    let gitlab = live(&scratch, &["review", "--live", "pod.yaml", "-o", "gitlab"])?;
    let entries: Vec<Value> = serde_json::from_str(&gitlab.stdout).map_err(|e| e.to_string())?;
    let unread = entries.iter().filter(|entry| entry["check_name"] == "unreadable-input");
    let prints: BTreeSet<&str> = unread.filter_map(|entry| entry["fingerprint"].as_str()).collect();
    same("fingerprints", 2, prints.len())?;
    let junit = live(&scratch, &["review", "--live", "pod.yaml", "-o", "junit"])?.stdout;
    for name in ["name=\"--live:1:1\"", "name=\"--live:1:1 (2)\""] {
        same(name, 1, junit.matches(name).count())?;
    }
    let why = |args: &[&str]| live(&scratch, &[&["why", "--live", "pod.yaml"], args].concat());
    let ran = why(&[])?;
    same(&format!("exit code of why: {}", ran.stderr), 2, ran.code)?;
    same("last line of why", Some("partial result: 1 input unreadable"), ran.stdout.lines().last())?;
    let json: Value = serde_json::from_str(&why(&["-o", "json"])?.stdout).map_err(|e| e.to_string())?;
    Ok(same("errors of why", 2, json["errors"].as_array().map_or(0, Vec::len))?)
}

/// The API server authorizes before it looks for the resource: without the right, a kind that does not exist is refused.
fn absent() -> Outcome {
    let script = site()?;
    for kind in ["MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork", "NicClusterPolicy", "NicNodePolicy"] {
        script.refuse(kind, Some(403));
    }
    let scratch = Scratch::new()?;
    scratch.write("pod.yaml", POD)?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    let commands: [&[&str]; 3] =
        [&["review", "--live", "pod.yaml"], &["why", "--live", "pod.yaml"], &["audit", "--live"]];
    // Without an answer of discovery, the kinds may exist. The audit cannot do without it.
    for (without, fails, codes) in
        [(None, false, [2, 2, 2]), (Some("mellanox.com"), false, [0, 0, 0]), (None, true, [2, 2, 3])]
    {
        script.command(|state| state.discovery = Discovery { without, fails, ..Discovery::default() });
        for (args, code) in commands.iter().zip(codes) {
            let ran = live(&scratch, args)?;
            let what = format!("{args:?} without {without:?}, {fails}: {}{}", ran.stdout, ran.stderr);
            same(&format!("exit code of {what}"), code, ran.code)?;
            same(
                &format!("warnings of {what}"),
                code == 2,
                ran.stderr.contains("MacvlanNetwork") || ran.stdout.contains("MacvlanNetwork"),
            )?;
        }
    }
    // A kind that exists is still unknown, beside those that do not.
    script.command(|state| state.discovery.fails = false);
    script.command(|state| state.discovery.without = Some("mellanox.com"));
    script.refuse("SriovNetwork", Some(403));
    for args in commands {
        let ran = live(&scratch, args)?;
        same(&format!("exit code of {args:?}: {}", ran.stderr), 2, ran.code)?;
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("SriovNetwork") && !all.contains("MacvlanNetwork"), "{all}");
    }
    Ok(())
}

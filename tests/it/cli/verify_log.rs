//! `verify-log`: each log of `tests/verify-log` with its result beside it.
//!
//! A log begins with comments: the fact that it stands for, its source, optional flags, and the exit code. The logs are our
//! own: forms of lines by NVIDIA/nccl's sources, with hosts, addresses and sizes of two small pods.

use crate::support::peak_memory::peak_memory;
use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Scratch, golden, names, read, root, run};
use serde_json::Value;
use std::path::PathBuf;

fn folder() -> PathBuf {
    root().join("tests/verify-log")
}

pub(crate) fn add(suite: &mut Suite) {
    for file in names(&folder()).into_iter().filter(|name| name.ends_with(".log")) {
        let name = file.trim_end_matches(".log").to_owned();
        suite.add(format!("verify_log::{name}"), move || Ok(case(&name)?));
    }
    suite.add("verify_log::json_has_the_same_facts", || Ok(json()?));
    suite.add("verify_log::github_annotates_lines", || Ok(github()?));
    suite.add("verify_log::many_files_are_one_log", || Ok(many_files()?));
    suite.add("verify_log::standard_input_is_a_log", || Ok(standard_input()?));
    suite.add("verify_log::unreadable_input_is_exit_code_2", || Ok(unreadable()?));
    suite.add("verify_log::odd_bytes_never_pass", || Ok(odd_bytes()?));
    suite.add("verify_log::many_findings_hide_no_error", || Ok(many_findings()?));
    suite.add("verify_log::a_log_beyond_the_limits_does_not_pass", || Ok(beyond_limits()?));
    if cfg!(target_os = "linux") {
        suite.add("verify_log::ranks_of_one_process_share_its_texts", || Ok(shared_texts()?));
    }
    suite.add("verify_log::a_cut_log_has_no_new_failure_of_a_transport", || Ok(cut()?));
}

/// Flags and exit code in the comments of a log.
fn comment<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().take_while(|line| line.starts_with("# ")).find_map(|line| line.strip_prefix(name))
}

fn case(name: &str) -> Result<(), String> {
    let file = format!("tests/verify-log/{name}.log");
    let text = read(&root().join(&file))?;
    for needed in ["# fact: ", "# source: "] {
        comment(&text, needed).ok_or_else(|| format!("{file} has no {needed:?}"))?;
    }
    let flags = comment(&text, "# flags: ").unwrap_or_default().split_ascii_whitespace();
    let arguments: Vec<&str> = std::iter::once("verify-log").chain(flags).chain([file.as_str()]).collect();
    let ran = run(&arguments, b"", root())?;
    let code = comment(&text, "# exit: ").and_then(|code| code.parse().ok()).ok_or("no exit code")?;
    golden(&folder().join(format!("{name}.txt")), Some(&format!("exit {}\n{}", ran.code, ran.stdout)))?;
    same("stderr", "", ran.stderr.as_str())?;
    let json = document(&arguments[1..], b"")?;
    for text in json["findings"].as_array().into_iter().flatten().filter_map(|f| f["explain"].as_str()) {
        let explained = run(&["explain", text], b"", root())?;
        same(&format!("exit code of explain {text}"), 0, explained.code)?;
    }
    same("exit code", code, ran.code)
}

fn document(arguments: &[&str], stdin: &[u8]) -> Result<Value, String> {
    let ran = run(&[&["verify-log", "-o", "json"], arguments].concat(), stdin, root())?;
    let json = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {ran:?}"))?;
    super::published_schemas::validate_verify_log(&json)?;
    Ok(json)
}

fn json() -> Result<(), String> {
    let json = document(&["tests/verify-log/roce.log"], b"")?;
    let group = &json["communicators"][0]["groups"][0];
    same("result", &Value::from("pass"), &json["result"])?;
    same("ranks", &Value::from("0-3"), &group["ranks"])?;
    same("transport", &Value::from("rdma"), &group["transport"])?;
    same("NICs", 2, group["nics"].as_array().map_or(0, Vec::len))?;
    same("version", &Value::from("2.28.9+cuda13.0"), &group["version"])?;
    let json = document(&["tests/verify-log/no-device.log"], b"")?;
    let finding = &json["findings"][0];
    same("kind", &Value::from("tcp-fallback"), &finding["kind"])?;
    same("explain", &Value::from("NET/IB : No device found"), &finding["explain"])?;
    same("result", &Value::from("fail"), &json["result"])
}

fn github() -> Result<(), String> {
    let ran = run(&["verify-log", "-o", "github", "tests/verify-log/no-device.log"], b"", root())?;
    same("exit code", 1, ran.code)?;
    let start = "::error file=tests/verify-log/no-device.log,line=";
    let annotated = ran
        .stdout
        .lines()
        .any(|line| line.starts_with(start) && line.contains("title=verify-log tcp-fallback"));
    same(&ran.stdout, true, annotated)
}

/// Each pod's log in a file of its own says the same as one log of both.
fn many_files() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let text = read(&folder().join("roce.log"))?;
    let paths = ["trainer-0", "trainer-1"].map(|host| {
        let of_it: String = text
            .lines()
            .filter(|l| l.contains(host) || l.starts_with("NCCL"))
            .flat_map(|l| [l, "\n"])
            .collect();
        scratch.write(&format!("{host}.log"), of_it)?;
        Ok::<_, String>(scratch.path().join(format!("{host}.log")).display().to_string())
    });
    let [first, second] = paths;
    let (first, second) = (first?, second?);
    let one = document(&["tests/verify-log/roce.log"], b"")?;
    for files in [[first.as_str(), second.as_str()], [second.as_str(), first.as_str()]] {
        let two = document(&files, b"")?;
        same("communicators", &one["communicators"], &two["communicators"])?;
    }
    Ok(())
}

fn standard_input() -> Result<(), String> {
    let text = read(&folder().join("no-device.log"))?;
    for arguments in [&["verify-log"][..], &["verify-log", "-"]] {
        let ran = run(arguments, text.as_bytes(), root())?;
        same("exit code", 1, ran.code)?;
        same(&ran.stdout, true, ran.stdout.contains("standard input:"))?;
    }
    Ok(())
}

/// The readable inputs are still judged.
fn unreadable() -> Result<(), String> {
    for (path, reason) in [("nowhere.log", "No such file"), ("tests", "is a directory")] {
        let ran = run(&["verify-log", "tests/verify-log/roce.log", path], b"", root())?;
        same("exit code", 2, ran.code)?;
        same(&ran.stderr, true, ran.stderr.contains(reason) && ran.stderr.contains(path))?;
        same(&ran.stdout, true, ran.stdout.contains("4 ranks"))?;
    }
    Ok(())
}

fn odd_bytes() -> Result<(), String> {
    let binary: Vec<u8> =
        (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for (what, bytes) in [
        ("nothing", Vec::new()),
        ("binary", binary),
        ("one long line", vec![b'x'; 1 << 20]),
        ("line feeds", vec![b'\n'; 1 << 16]),
        ("no text after the mark", b"a:1:2 [0] NCCL INFO \n".to_vec()),
        ("a wide line", [b"a:1:2 [0] NCCL INFO Using network ".as_slice(), &[b'I'; 1 << 20], b"\n"].concat()),
        ("not UTF-8", b"a\xff:1:2 [\xff] NCCL INFO Using network \xff\xfe\n".to_vec()),
    ] {
        let ran = run(&["verify-log", "-"], &bytes, root())?;
        same(what, 1, ran.code)?;
        same(what, true, ran.stdout.contains("unknown: "))?;
    }
    Ok(())
}

/// A log that ends anywhere, in the middle of a line too, shows no transport that the whole log does not have.
fn cut() -> Result<(), String> {
    let text = read(&folder().join("roce.log"))?;
    for end in (0..text.len()).step_by(611).filter(|end| text.is_char_boundary(*end)) {
        let json = document(&["-"], &text.as_bytes()[..end])?;
        let kinds = json["findings"].as_array().into_iter().flatten().filter_map(|f| f["kind"].as_str());
        let wrong: Vec<&str> =
            kinds.filter(|k| ["tcp-fallback", "no-gpudirect", "failure-line"].contains(k)).collect();
        same(&format!("{end} bytes"), Vec::<&str>::new(), wrong)?;
    }
    Ok(())
}

/// 6,000 ranks with facts of their own, in a process with a list of 1,000 bytes of NICs: a log of 0.9 MB.
fn shared_texts() -> Result<(), String> {
    let nics: String = (0..110).map(|n| format!("[{n}]m:1/R ")).collect();
    let mut log = format!("h:1:1 [0] NCCL INFO NET/IB : Using {nics}[RO]; OOB eth0:10.0.0.1<0>\n");
    for rank in 0..6_000 {
        log += &format!(
            "h:1:1 [0] NCCL INFO comm 0x{rank:x} rank {rank} nranks 6000 cudaDev 0 busId 1 commId 0x1 - Init START\n\
             h:1:1 [0] NCCL INFO {rank} coll channels, 0 nvls channels, 2 p2p channels, 1 p2p channels per peer\n"
        );
    }
    let summary = run(&["verify-log", "-"], log.as_bytes(), root())?.stdout;
    if !summary.contains("5992 more groups with other facts not shown; -o json lists up to 4096 groups") {
        return Err(summary);
    }
    let document = document(&["-"], log.as_bytes())?;
    let of = &document["communicators"][0];
    let listed = of["groups"].as_array().map_or(0, Vec::len);
    // 4 MiB of their text.
    same("groups with 1,000 bytes of NICs", true, (3_000..4_096).contains(&listed))?;
    same("other groups", &Value::from(6_000 - listed), &of["moreGroups"])?;
    let peak = peak_memory(&["verify-log", "-o", "json", "-"], &log, 1)?;
    match peak / 1024 {
        0..40 => Ok(()),
        peak => Err(format!("{peak} MiB")),
    }
}

/// The lines of one rank of a communicator of two ranks.
fn rank(host: &str, communicator: usize, rank: usize, network: &str) -> String {
    let head = format!("{host}{rank}:1:1 [0] NCCL INFO ");
    let init = format!(
        "{head}ncclCommInitRank comm 0x{communicator:x} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 1 commId \
         0x{communicator:x} - Init"
    );
    let peer = 1 - rank;
    format!(
        "{head}Using network {network}\n{init} START\n{head}Channel 00/0 : {rank}[0] -> {peer}[0] [send] via \
         NET/{network}/0/GDRDMA\n{init} COMPLETE\n"
    )
}

/// The log has one of two ranks of many communicators, and then a communicator that uses TCP.
fn many_findings() -> Result<(), String> {
    let mut log: String = (1..1_200).map(|communicator| rank("h", communicator, 0, "IB")).collect();
    same("exit code without the error", 0, run(&["verify-log", "-"], log.as_bytes(), root())?.code)?;
    log += &(rank("h", 5_000, 0, "Socket") + &rank("h", 5_000, 1, "Socket"));
    let json = document(&["-"], log.as_bytes())?;
    same("result", &Value::from("fail"), &json["result"])?;
    same("the worst finding", &Value::from("tcp-fallback"), &json["findings"][0]["kind"])?;
    same("exit code", 1, run(&["verify-log", "-"], log.as_bytes(), root())?.code)
}

/// The communicator that uses TCP is the first one that is not kept.
fn beyond_limits() -> Result<(), String> {
    let mut log: String = (1..=8_192).map(|communicator| rank("h", communicator, 0, "IB")).collect();
    let whole = document(&["-"], log.as_bytes())?;
    same("result of all that is kept", &Value::from("pass"), &whole["result"])?;
    log += &(rank("other", 9_000, 0, "Socket") + &rank("other", 9_000, 1, "Socket"));
    let json = document(&["-"], log.as_bytes())?;
    same("result", &Value::from("unknown"), &json["result"])?;
    same("the worst finding", &Value::from("beyond-limits"), &json["findings"][0]["kind"])?;
    same("exit code", 1, run(&["verify-log", "-"], log.as_bytes(), root())?.code)
}

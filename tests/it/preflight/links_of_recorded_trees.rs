//! Links of the trees that `preflight` and `monitor` read: a tree may be recorded by anyone, and a link out of it leads to files
//! of the machine that reads it.

use crate::support::file_trees::Tree;
use crate::support::monitor::Monitor;
use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Ran, Scratch, run};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Files and directories of a healthy tree, each with the check that reads it.
const READ: [(&str, &str); 12] = [
    ("sys/class/infiniband/mlx5_3/ports/1/state", "PF102"),
    ("sys/class/infiniband/mlx5_3/ports", "PF102"),
    ("sys/class/infiniband", "PF101"),
    ("sys/class/net/rail3/mtu", "PF108"),
    (".preflight/addresses", "PF201"),
    ("proc/self/limits", "PF301"),
    ("dev/shm", "PF303"),
    ("dev/infiniband/uverbs3", "PF101"),
    ("proc/driver/nvidia/gpus", "PF403"),
    ("usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.56", "PF501"),
    ("etc/libibverbs.d/mlx5.driver", "PF502"),
    ("usr/local/lib/python3.12/dist-packages/nvidia/nccl/lib/libnccl.so.2", "PF504"),
];

const WORDS: &str = "the symbolic link points outside the directory of --root";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("preflight::links_inside_the_root_are_followed", || Ok(inside()?));
    suite.add("preflight::links_out_of_the_root_are_not_followed", || Ok(outside()?));
    suite.add("preflight::nothing_of_a_file_outside_of_the_root_is_shown", || Ok(hidden()?));
    suite.add("monitor::links_out_of_the_root_are_not_followed", || Ok(monitor()?));
}

fn fault(error: std::io::Error) -> String {
    error.to_string()
}

/// A healthy tree in the directory `root`.
fn healthy() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    Tree::listed("roce-vf")?.write(&scratch.path().join("root"))?;
    Ok(scratch)
}

fn preflight(scratch: &Scratch, more: &[&str]) -> Result<Ran, String> {
    run(&[&["preflight", "--root", "root"], more].concat(), b"", scratch.path())
}

/// Moves a part of the tree to a directory, with a link at its old place.
fn move_away(scratch: &Scratch, path: &str, to: &str) -> Result<(), String> {
    let (path, to) = (scratch.path().join("root").join(path), scratch.path().join(to));
    let target = to.join(path.file_name().ok_or("no name")?);
    fs::create_dir_all(to).and_then(|()| fs::rename(&path, &target)).map_err(fault)?;
    symlink(target, path).map_err(fault)
}

fn inside() -> Result<(), String> {
    let before = preflight(&healthy()?, &[])?;
    same("exit code", 0, before.code)?;
    // Links of the devices are relative to their directory, and the report shows the path of libibverbs.
    let read =
        READ.into_iter().filter(|(path, _)| !path.ends_with("infiniband") && !path.contains("libibverbs.so"));
    for (path, _) in read {
        let scratch = healthy()?;
        move_away(&scratch, path, "root/elsewhere")?;
        let ran = preflight(&scratch, &[])?;
        same(&format!("report with a link at {path}: {}", ran.stderr), &*before.stdout, &*ran.stdout)?;
    }
    Ok(())
}

fn outside() -> Result<(), String> {
    for (path, id) in READ {
        let scratch = healthy()?;
        move_away(&scratch, path, "outside")?;
        let ran = preflight(&scratch, &[])?;
        let line = ran.stdout.lines().find(|line| line.starts_with(id)).unwrap_or_default();
        same(&format!("{path}: {line} of {}", ran.stdout), true, line.contains(WORDS))?;
        same(&format!("{path}: {line}"), false, line.contains("  pass"))?;
    }
    Ok(())
}

/// Contents, sizes and names.
fn hidden() -> Result<(), String> {
    for (path, content) in [
        ("etc/nccl.conf", "NCCL_IB_HCA=hidden\nNCCL_SOCKET_IFNAME=hidden\nNCCL_NET_PLUGIN=hidden\n"),
        (".preflight/environment", "NCCL_IB_HCA=hidden\nNCCL_SOCKET_IFNAME=hidden\n"),
        (".preflight/addresses", "hidden 10.0.0.5/24\n"),
        ("sys/class/infiniband_verbs/uverbs3/ibdev", "hidden\n"),
        ("sys/class/infiniband/mlx5_3/ports/1/rate", "hidden\n"),
        ("sys/class/net/rail3/operstate", "hidden\n"),
        ("proc/driver/nvidia/version", "hidden\n"),
        ("sys/class/infiniband", ""),
        ("dev/shm", ""),
        ("topology", ""),
    ] {
        let scratch = healthy()?;
        let environment = scratch.path().join("root/.preflight/environment");
        let set = fs::read_to_string(&environment).map_err(fault)? + "NCCL_TOPO_FILE=/topology\n";
        fs::write(environment, set).map_err(fault)?;
        let at = scratch.path().join("root").join(path);
        fs::remove_dir_all(&at).or_else(|_| fs::remove_file(&at)).or_else(|_| nothing(&at)).map_err(fault)?;
        fs::create_dir_all(at.parent().ok_or("no directory")?).map_err(fault)?;
        scratch.write("outside/file", content)?;
        scratch.write("outside/directory/hidden", "")?;
        scratch.write("outside/directory/nccl-hidden", "x".repeat(4_321))?;
        scratch.write("outside/size", "x".repeat(4_321))?;
        let target = match (path, content) {
            ("topology", _) => "outside/size",
            (_, "") => "outside/directory",
            _ => "outside/file",
        };
        symlink(scratch.path().join(target), at).map_err(fault)?;
        for format in ["text", "json"] {
            let ran = preflight(&scratch, &["-o", format])?;
            let written = ["nccl.conf", "facts.json"].map(|name| {
                fs::read_to_string(scratch.path().join("root/fabric").join(name)).unwrap_or_default()
            });
            let all = [ran.stdout, ran.stderr, written.concat()].concat();
            same(&format!("{path}: {all}"), false, all.contains("hidden") || all.contains("4321"))?;
        }
    }
    Ok(())
}

/// A path that does not exist need not be removed.
fn nothing(at: &Path) -> std::io::Result<()> {
    if at.exists() { Err(std::io::Error::other(at.display().to_string())) } else { Ok(()) }
}

fn monitor() -> Result<(), String> {
    let (scratch, outside) = (Scratch::new()?, Scratch::new()?);
    let port = |device: &str| format!("sys/class/infiniband/{device}/ports/1");
    for device in ["mlx5_0", "mlx5_1", "mlx5_2"] {
        scratch.write(&format!("{}/state", port(device)), "4: ACTIVE\n")?;
        scratch.write(&format!("{}/counters/link_downed", port(device)), "3\n")?;
    }
    outside.write("counter", "4321\n")?;
    outside.write("hidden/ports/1/state", "4: ACTIVE\n")?;
    outside.write("hidden/ports/1/counters/link_downed", "4321\n")?;
    outside.write("net", "h\nh\nhidden0: 4321 0 0 0 0 0 0 0 4321 0 0 0 0 0 0 0\n")?;
    scratch.write("proc/net/a", "")?;
    for (target, name) in [
        (outside.path().join("counter"), format!("{}/counters/symbol_error", port("mlx5_0"))),
        (outside.path().join("hidden"), "sys/class/infiniband/mlx5_3".to_owned()),
        (outside.path().join("net"), "proc/net/dev".to_owned()),
        // Inside of the tree.
        ("link_downed".into(), format!("{}/counters/symbol_error", port("mlx5_1"))),
    ] {
        symlink(target, scratch.path().join(name)).map_err(fault)?;
    }
    let monitor = Monitor::start(scratch, &[])?;
    let metrics = monitor.get("/metrics")?;
    same(&metrics, false, metrics.contains("4321") || metrics.contains("hidden"))?;
    // Two counters of the device with the link inside, and one of both others.
    for (device, count) in [("mlx5_0", 1), ("mlx5_1", 2), ("mlx5_2", 1)] {
        let of = |line: &&str| line.contains(device) && line.ends_with(" 3");
        same(&format!("{device} in {metrics}"), count, metrics.lines().filter(of).count())?;
    }
    let line = monitor.line("unreadable")?;
    same(&line, true, line.contains(WORDS))
}

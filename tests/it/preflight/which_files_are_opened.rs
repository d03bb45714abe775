//! What `preflight` and `monitor` open, and files that the kernel refuses to read.

use crate::support::file_trees::Tree;
use crate::support::monitor::Monitor;
use crate::support::suite::Suite;
use crate::support::{Scratch, names};
use fabric_admission::pod_agent::{Counters, Options, Root, read_everything};
use rustix::fs::inotify;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Files of some interfaces that the kernel refuses to read (linux net/core/net-sysfs.c, `speed_show` and
/// `phys_port_name_show`), the error, and the words of the reason.
const REFUSED: [(&str, i32, &str); 2] =
    [("speed", 22, "the kernel answers EINVAL"), ("phys_port_name", 95, "the driver does not support it")];

pub(crate) fn add(suite: &mut Suite) {
    let unshared = Command::new("unshare").args(["-rm", "mount", "--bind", "/tmp", "/mnt"]).output();
    let may_mount = unshared.is_ok_and(|done| done.status.success());
    for (file, number, words) in REFUSED {
        let name = format!("preflight::errno_{number}_of_a_file_is_unknown");
        let interfaces = names(Path::new("/sys/class/net")).into_iter();
        let mut files = interfaces.map(|interface| format!("/sys/class/net/{interface}/{file}"));
        let refuses = |file: &String| fs::read(file).err().and_then(|e| e.raw_os_error()) == Some(number);
        match files.find(refuses) {
            Some(file) if may_mount => suite.add(name, move || Ok(refused(&file, words)?)),
            Some(_) => suite.missing("no unshare and mount, or they may not mount a file", &name),
            None => suite.missing("no interface with a file that answers this error", &name),
        }
    }
    for mode in ["shared", "exclusive"] {
        suite
            .add(format!("preflight::device_counters_are_never_opened::{mode}"), move || Ok(unopened(mode)?));
    }
}

/// A file of a healthy tree that the kernel refuses: its check is unknown with the reason, and the monitor leaves out one
/// value only. The file is mounted into the tree, because a link to it would lead out of the tree.
fn refused(file: &str, words: &str) -> Result<(), String> {
    let binary = env!("CARGO_BIN_EXE_fabric-admission");
    for (path, id) in [
        ("sys/class/infiniband/mlx5_3/ports/1/state", "PF102"),
        ("sys/class/infiniband/mlx5_3/ports/1/rate", "PF103"),
        ("sys/class/infiniband/mlx5_3/ports/1/link_layer", "PF104"),
        ("sys/class/infiniband/mlx5_3/ports/1/gids/3", "PF203"),
        ("sys/class/net/rail3/mtu", "PF108"),
        ("sys/class/net/rail3/operstate", "PF201"),
    ] {
        let scratch = Scratch::new()?;
        Tree::listed("roce-vf")?.write(scratch.path())?;
        let ran = Command::new("unshare")
            .args([
                "-rm",
                "bash",
                "-c",
                &format!("mount --bind {file} {path} && {binary} preflight --root ."),
            ])
            .current_dir(scratch.path())
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&ran.stdout);
        let line = text.lines().find(|line| line.starts_with(id)).unwrap_or_default();
        if !line.starts_with(&format!("{id}  unknown")) || !line.contains(words) {
            return Err(format!("{path}: {line}{}", String::from_utf8_lossy(&ran.stderr)));
        }
    }
    let scratch = Scratch::new()?;
    let counters = "sys/class/infiniband/mlx5_0/ports/1/counters";
    for counter in ["link_downed", "symbol_error"] {
        scratch.write(&format!("{counters}/{counter}"), "3\n")?;
    }
    let mounted = format!("mount --bind {file} {counters}/symbol_error && exec {binary} \"$@\"");
    scratch.write("program", format!("#!/bin/sh\nexec unshare -rm sh -c '{mounted}' sh \"$@\"\n"))?;
    let program = scratch.path().join("program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(|error| error.to_string())?;
    let metrics = Monitor::of_program(program.as_os_str(), scratch, &[])?.get("/metrics")?;
    let is_of_port = |line: &&str| !line.starts_with('#') && line.contains("mlx5_0") && line.ends_with(" 3");
    match metrics.lines().filter(is_of_port).count() {
        1 => Ok(()),
        _ => Err(metrics),
    }
}

/// On some kernels, a pod that opens the counters of a device crashes the node: nothing opens the folder or its files.
fn unopened(mode: &str) -> Result<(), String> {
    let scratch = Scratch::new()?;
    Tree::listed("roce-vf")?.write(scratch.path())?;
    let folder = scratch.path().join("sys/class/infiniband/mlx5_0/hw_counters");
    scratch.write("sys/class/infiniband/mlx5_0/hw_counters/lifespan", "10\n")?;
    scratch.write("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "7\n")?;
    scratch.write(".preflight/rdma-namespaces", format!("{mode}\n"))?;
    let fault = |error: rustix::io::Errno| format!("inotify: {error}");
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).map_err(fault)?;
    let events = inotify::WatchFlags::OPEN | inotify::WatchFlags::ACCESS;
    inotify::add_watch(&watch, &folder, events).map_err(fault)?;
    let seen = || {
        let mut buffer = [const { MaybeUninit::uninit() }; 1024];
        inotify::Reader::new(&watch, &mut buffer).next().is_ok()
    };
    let seen_of_preflight = read_everything(&Options { root: Root::new(scratch.path()), expect: None });
    let readings = Counters::new(Root::new(scratch.path()), None).read();
    if seen_of_preflight.devices.is_err() || readings.ports.is_empty() {
        return Err("nothing was read".to_owned());
    }
    if seen() {
        return Err(format!("{} was opened", folder.display()));
    }
    // The watch would have seen it.
    fs::read(folder.join("lifespan")).map_err(|e| e.to_string())?;
    if seen() { Ok(()) } else { Err("the watch sees nothing".to_owned()) }
}

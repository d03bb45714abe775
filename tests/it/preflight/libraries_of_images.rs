//! `preflight` and the libraries of real images: packages of Debian, unpacked, and a container made of them.

use crate::support::elf::library;
use crate::support::file_trees::Tree;
use crate::support::peak_memory::peak_memory;
use crate::support::suite::Suite;
use crate::support::{Scratch, names, read, root, run};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const EXPECT: &str = r#"{"v":1,"profile":"h100@1","transport":"roce","devices":8,"gpus":8,"write":"/fabric/nccl.conf","facts":"/fabric/facts.json"}"#;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("preflight::many_needs_with_one_long_name_take_little_memory", || Ok(long_names()?));
    const NAME: &str = "preflight::image";
    let Some(packages) = std::env::var_os("FABRIC_ADMISSION_VERBS").map(PathBuf::from) else {
        suite.missing("no packages of libibverbs; set FABRIC_ADMISSION_VERBS", NAME);
        return;
    };
    for release in names(&packages) {
        let folder = packages.join(&release);
        suite.add(format!("{NAME}::{release}::libraries"), {
            let folder = folder.clone();
            move || Ok(libraries(&folder)?)
        });
        suite.add(format!("{NAME}::{release}::container"), move || Ok(container(&folder)?));
    }
}

/// All entries of a library may name one text of megabytes.
fn long_names() -> Result<(), String> {
    for (length, words) in
        [(4_096, "needs aaaa"), (2 << 20, "names a library or its folders in more than 4096 bytes")]
    {
        let scratch = Scratch::new()?;
        modelled()?.write(scratch.path())?;
        let library = library(&format!("soname=libibverbs.so.1 repeat=300 needed={}", "a".repeat(length)))?;
        scratch.write("usr/lib/libibverbs.so.1", library)?;
        let place = scratch.path().display().to_string();
        let ran = run(&["preflight", "--root", &place], b"", root())?;
        let line = ran.stdout.lines().find(|line| line.starts_with("PF501")).unwrap_or_default();
        if !line.contains(words) {
            return Err(format!("{length}: no {words:?} in {:.400}", line));
        }
        if cfg!(target_os = "linux") {
            let peak = peak_memory(&["preflight", "--root", &place], "", ran.code)?;
            if peak > 200 << 10 {
                return Err(format!("{length}: {peak} KiB"));
            }
        }
    }
    Ok(())
}

/// Unpacks packages whose names start with one of some.
fn unpack(packages: &Path, to: &Path, without: &str) -> Result<(), String> {
    for name in names(packages)
        .iter()
        .filter(|name| name.ends_with(".deb") && !name.starts_with(&format!("{without}_")))
    {
        let done = Command::new("dpkg-deb").arg("-x").arg(packages.join(name)).arg(to).output();
        let done = done.map_err(|e| format!("dpkg-deb: {e}"))?;
        if !done.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&done.stderr)));
        }
    }
    // Newer releases rely on links that the package base-files makes.
    for (link, target) in [("lib", "usr/lib"), ("lib64", "usr/lib64")] {
        if !to.join(link).exists() && to.join(target).exists() {
            std::os::unix::fs::symlink(target, to.join(link)).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// A modelled tree without its own libraries.
fn modelled() -> Result<Tree, String> {
    let mut tree = Tree::listed("roce-vf")?;
    tree.remove("usr/lib");
    tree.remove("etc/libibverbs.d");
    Ok(tree)
}

/// The libraries of a release: whole, without a package, and with providers of another release.
fn libraries(packages: &Path) -> Result<(), String> {
    for (without, wanted) in [
        ("nothing", ["PF501  pass", "PF502  pass"]),
        ("libibverbs1", ["PF501  fail", "PF502  unknown"]),
        ("ibverbs-providers", ["PF501  pass", "PF502  fail"]),
        ("libnl-route-3-200", ["PF501  fail", "PF502  "]),
    ] {
        let scratch = Scratch::new()?;
        unpack(packages, scratch.path(), without)?;
        modelled()?.write(scratch.path())?;
        let place = scratch.path().display().to_string();
        let ran = run(&["preflight", "--root", &place], b"", root())?;
        for start in wanted {
            if !ran.stdout.lines().any(|line| line.starts_with(start)) {
                return Err(format!("without {without}, no line {start:?}:\n{}", ran.stdout));
            }
        }
    }
    Ok(())
}

/// The binary in a container of these libraries: another user, no capability, a read-only root, the kernel's own answers;
/// only sysfs and the device files are modelled.
fn container(packages: &Path) -> Result<(), String> {
    let scratch = Scratch::new()?;
    let here = scratch.path();
    unpack(packages, &here.join("rootfs"), "nothing")?;
    for folder in ["proc", "sys", "dev", "fabric"] {
        fs::create_dir_all(here.join("rootfs").join(folder)).map_err(|e| e.to_string())?;
    }
    fs::write(here.join("rootfs/fabric-admission"), "").map_err(|e| e.to_string())?;
    modelled()?.write(&here.join("model"))?;
    fs::create_dir_all(here.join("volume")).map_err(|e| e.to_string())?;
    let mode = |path: &str, mode| {
        fs::set_permissions(here.join(path), fs::Permissions::from_mode(mode))
            .map_err(|e| format!("{path}: {e}"))
    };
    mode("volume", 0o777)?;
    let binary = std::env::var("FABRIC_ADMISSION_STATIC");
    let binary = binary.unwrap_or_else(|_| env!("CARGO_BIN_EXE_fabric-admission").to_owned());
    let bind = |from: String, to: &str, writable: &str| json!({"destination": to, "type": "bind", "source": from, "options": ["rbind", writable]});
    let at = |name: &str| here.join(name).display().to_string();
    let spec = json!({
        "ociVersion": "1.0.2",
        "process": {
            "terminal": false, "cwd": "/", "noNewPrivileges": true, "capabilities": {},
            "user": {"uid": 1000, "gid": 1000},
            "args": ["/fabric-admission", "preflight", "--termination-message", "/fabric/termination-log"],
            "env": [format!("FABRIC_ADMISSION_EXPECT={EXPECT}"), "NCCL_SOCKET_IFNAME=rail0".to_owned()],
            "rlimits": [{"type": "RLIMIT_MEMLOCK", "soft": 8 << 20, "hard": 8 << 20}],
        },
        "root": {"path": "rootfs", "readonly": true},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "mode=1777", "size=65536k"]},
            bind(at("model/sys"), "/sys", "ro"),
            bind(at("model/dev/infiniband"), "/dev/infiniband", "rw"),
            bind(at("volume"), "/fabric", "rw"),
            bind(binary, "/fabric-admission", "ro"),
        ],
        "linux": {"namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}, {"type": "uts"}]},
    });
    fs::write(here.join("config.json"), spec.to_string()).map_err(|e| e.to_string())?;
    // As a kubelet would leave device files that the device cgroup denies, and those that it allows.
    for (device_mode, wanted) in [
        (0o600, ["PF101  fail", "PF301  fail", "PF302  fail", "PF501  pass", "PF602  fail", "PF002  pass"]),
        (0o666, ["PF101  pass", "PF301  fail", "PF302  fail", "PF501  pass", "PF502  pass", "PF002  pass"]),
    ] {
        for name in names(&here.join("model/dev/infiniband")) {
            mode(&format!("model/dev/infiniband/{name}"), device_mode)?;
        }
        let ran = in_container(here)?;
        for start in wanted {
            if !ran.1.lines().any(|line| line.starts_with(start)) {
                return Err(format!("no line {start:?}:\n{}", ran.1));
            }
        }
        if ran.0 != Some(78) {
            return Err(format!("exit code {:?}\n{}", ran.0, ran.1));
        }
    }
    let message = read(&here.join("volume/termination-log"))?;
    let facts: Value =
        serde_json::from_str(&read(&here.join("volume/facts.json"))?).map_err(|e| e.to_string())?;
    let conf = read(&here.join("volume/nccl.conf"))?;
    let last = message.lines().last().unwrap_or_default();
    assert!(last.starts_with("preflight: fail, configuration fault"), "{message}");
    assert_eq!(facts["memlockBytes"], 8 << 20, "{facts}");
    assert!(
        conf.starts_with("# Written by fabric-admission preflight, profile h100@1\nNCCL_IB_HCA==mlx5_0:1,"),
        "{conf}"
    );
    Ok(())
}

/// Runs the bundle; the exit code, and all output.
fn in_container(here: &Path) -> Result<(Option<i32>, String), String> {
    // crun refuses to run where version 1 and 2 of cgroups are mixed, runc does not.
    let programs = ["runc", "crun"];
    let installed = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
    let program = programs.iter().find(installed).ok_or("neither runc nor crun")?;
    let name = format!("{}-preflight", here.file_name().unwrap_or_default().to_string_lossy());
    let done = Command::new(program).args(["run", &name]).current_dir(here).output();
    let done = done.map_err(|e| format!("{program}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((done.status.code(), format!("{}{}", text(&done.stdout), text(&done.stderr))))
}

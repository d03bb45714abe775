//! What `preflight` writes: nccl.conf, facts.json, the termination message; and its formats and exit codes.

use crate::support::file_trees::Tree;
use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, root, run};
use fabric_admission::preflight::facts_json_for_monitor::Facts;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

/// A healthy tree, written out.
fn healthy() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    Tree::listed("roce-vf")?.write(scratch.path())?;
    Ok(scratch)
}

fn preflight(scratch: &Scratch, more: &[&str]) -> Result<Ran, String> {
    let place = scratch.path().display().to_string();
    run(&[&["preflight", "--root", &place], more].concat(), b"", root())
}

pub(crate) fn add(suite: &mut Suite) {
    suite.add("preflight::nccl_conf_is_written_in_place", || {
        let scratch = healthy()?;
        // Another container has mounted the empty file of an earlier run; it must see the new content.
        scratch.write("fabric/nccl.conf", "")?;
        let path = scratch.path().join("fabric/nccl.conf");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let inode = fs::metadata(&path)?.ino();
        preflight(&scratch, &[])?;
        let found = fs::metadata(&path)?;
        assert_eq!((found.ino(), found.mode() & 0o777), (inode, 0o644));
        assert!(fs::read_to_string(&path)?.contains("\nNCCL_IB_TC=106\n"));
        Ok(())
    });
    suite.add("preflight::the_environment_wins", || {
        let scratch = healthy()?;
        let environment = scratch.path().join(".preflight/environment");
        let set = fs::read_to_string(&environment)? + "NCCL_IB_HCA=mlx5\nNCCL_IB_TC=96\n";
        fs::write(&environment, set)?;
        let ran = preflight(&scratch, &[])?;
        let conf = fs::read_to_string(scratch.path().join("fabric/nccl.conf"))?;
        assert!(!conf.contains("NCCL_IB_HCA") && !conf.contains("NCCL_IB_TC"), "{conf}");
        assert!(ran.stderr.contains("NCCL_IB_TC is not written (the environment sets it)"), "{}", ran.stderr);
        Ok(())
    });
    suite.add("preflight::facts_are_read_back", || {
        let scratch = healthy()?;
        preflight(&scratch, &[])?;
        let facts = Facts::parse(&fs::read_to_string(scratch.path().join("fabric/facts.json"))?)?;
        assert_eq!(
            (facts.version, facts.verdict.as_str(), facts.devices.iter().flatten().count()),
            (1, "pass", 8)
        );
        assert_eq!(facts.devices.as_ref().unwrap()[3].interface.as_deref(), Some("rail3"));
        assert_eq!(facts.nccl.as_deref(), Some("2.27.5"));
        assert!(Facts::parse("{\"version\":2}").is_err() && Facts::parse("").is_err());
        Ok(())
    });
    suite.add("preflight::the_termination_message_ends_with_the_verdict", || {
        let scratch = Scratch::new()?;
        Tree::listed("broken/pf105_exclusive_without_cni")?.write(scratch.path())?;
        let message = scratch.path().join("termination-log");
        let ran = preflight(&scratch, &["--termination-message", &message.display().to_string()])?;
        let text = fs::read_to_string(&message)?;
        assert!(text.len() <= 4096 && text.starts_with("PF101  fail"), "{text}");
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with("preflight: fail, configuration fault: "), "{last}");
        Ok(same("exit code", 78, ran.code)?)
    });
    suite.add("preflight::a_long_report_fits_the_termination_message", || {
        // Every check fails or is unknown with long names: the expectation names a thousand interfaces.
        let scratch = healthy()?;
        let names: Vec<String> = (0..1000).map(|n| format!("\"{}{n}\"", "interface".repeat(20))).collect();
        let expect =
            format!("{{\"v\":1,\"transport\":\"roce\",\"interfaces\":[{}]}}", names[..300].join(","));
        let message = scratch.path().join("termination-log");
        preflight(&scratch, &["--expect", &expect, "--termination-message", &message.display().to_string()])?;
        let text = fs::read_to_string(&message)?;
        assert!(text.len() <= 4096, "{} bytes", text.len());
        assert!(text.lines().last().is_some_and(|line| line.starts_with("preflight: fail")), "{text}");
        Ok(())
    });
    suite.add("preflight::json", || {
        let scratch = healthy()?;
        let ran = preflight(&scratch, &["-o", "json"])?;
        let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
        assert_eq!(report["schema"], "fabric-admission.dev/preflight/v1");
        assert_eq!((&report["verdict"], &report["fault"]), (&"pass".into(), &Value::Null));
        assert!(report["checks"].as_array().is_some_and(|checks| checks.len() > 20));
        Ok(())
    });
    suite.add("preflight::a_policy_softens_a_failure", || {
        for (policy, verdict, code) in [("fail", "fail", 69), ("warn", "warn", 0), ("skip", "pass", 0)] {
            let scratch = Scratch::new()?;
            Tree::listed("broken/pf102_port_down")?.write(scratch.path())?;
            let expect = format!(
                "{{\"v\":1,\"transport\":\"roce\",\"devices\":8,\"gpus\":8,\"checks\":{{\"PF102\":\"{policy}\"}}}}"
            );
            let ran = preflight(&scratch, &["--expect", &expect, "-o", "json"])?;
            let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
            same(policy, (verdict, code), (report["verdict"].as_str().unwrap_or_default(), ran.code))?;
        }
        Ok(())
    });
    suite.add("preflight::a_profile_file_stands_for_the_expectation", || {
        for (rails, line) in [(8, "PF101  pass"), (7, "PF101  warn"), (9, "PF101  fail")] {
            let scratch = healthy()?;
            scratch.write(
                "profile.yaml",
                format!(
                    "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: h100}}\nspec:\n  base: \
                     roce-sriov\n  rails: [{{network: fabric/rail, resource: example.com/rail, count: {rails}}}]\n"
                ),
            )?;
            let file = scratch.path().join("profile.yaml").display().to_string();
            let ran = preflight(&scratch, &["--profile-file", &file])?;
            assert!(ran.stdout.lines().any(|l| l.starts_with(line)), "{rails}: {}{}", ran.stdout, ran.stderr);
        }
        let ran = preflight(&healthy()?, &["--profile-file", "nowhere.yaml"])?;
        assert!(ran.stderr.starts_with("error: nowhere.yaml: "), "{}", ran.stderr);
        Ok(same("exit code", 2, ran.code)?)
    });
    suite.add("preflight::a_profile_file_is_short_and_shows_no_other_file", || Ok(profile_files()?));
    suite.add("preflight::files_are_written_below_the_root", || Ok(paths_out_of_the_root()?));
    suite.add("preflight::a_root_that_is_missing", || Ok(a_root_that_is_missing()?));
    suite.add("preflight::transport_ethernet_needs_no_rdma", || {
        let scratch = Scratch::new()?;
        scratch.write("sys/class/net/eth0/operstate", "up\n")?;
        let ran = preflight(&scratch, &["--expect", "{\"v\":1,\"transport\":\"ethernet\"}"])?;
        same("exit code", 0, ran.code)?;
        let line = ran.stdout.lines().find(|line| line.starts_with("PF101")).unwrap_or_default();
        Ok(same("PF101", true, line.contains("off") && line.contains("needs no RDMA device"))?)
    });
    suite.add("preflight::nothing_to_see_is_unknown", || {
        let scratch = Scratch::new()?;
        let ran = preflight(&scratch, &[])?;
        same("exit code", 0, ran.code)?;
        let last = ran.stdout.lines().last().unwrap_or_default();
        Ok(same("verdict", true, last.starts_with("preflight: unknown"))?)
    });
    suite.add("preflight::an_empty_tree_passes_no_check", || {
        for transport in ["roce", "infiniband", "efa", "ethernet", "tcpx", "tcpxo"] {
            let scratch = Scratch::new()?;
            fs::create_dir_all(scratch.path().join("dev/shm"))?;
            let expect = format!(
                "{{\"v\":1,\"transport\":\"{transport}\",\"devices\":8,\"gpus\":8,\"interfaces\":[\"rail0\"]}}"
            );
            let ran = preflight(&scratch, &["--expect", &expect])?;
            let passes = ran.stdout.lines().filter(|line| line.get(5..11) == Some("  pass"));
            let passes: Vec<&str> = passes.filter_map(|line| line.get(..5)).collect();
            same(transport, vec!["PF001"], passes)?;
        }
        Ok(())
    });
    const FULL: &str = "preflight::a_full_volume_is_our_own_fault";
    let unshared = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if unshared.is_ok_and(|done| done.status.success()) {
        suite.add(FULL, || Ok(full_volume()?));
    } else {
        suite.missing("no unshare and mount, or they may not mount a tmpfs", FULL);
    }
    suite.add("preflight::a_device_instead_of_a_file_is_our_own_fault", || {
        let scratch = Scratch::new()?;
        Tree::listed("roce-vf")?.write(scratch.path())?;
        fs::create_dir_all(scratch.path().join("fabric"))?;
        std::os::unix::fs::symlink("/dev/full", scratch.path().join("fabric/nccl.conf"))?;
        let ran = preflight(&scratch, &[])?;
        same("exit code", 70, ran.code)?;
        Ok(same("PF002", true, ran.stdout.contains("PF002  fail"))?)
    });
    suite.add("preflight::a_skipped_check_of_written_files_stays_off", || {
        let scratch = healthy()?;
        fs::create_dir_all(scratch.path().join("fabric"))?;
        std::os::unix::fs::symlink("/dev/full", scratch.path().join("fabric/nccl.conf"))?;
        let environment = scratch.path().join(".preflight/environment");
        let set = fs::read_to_string(&environment)?;
        let skipped = set.replace(
            "FABRIC_ADMISSION_EXPECT={",
            "FABRIC_ADMISSION_EXPECT={\"checks\":{\"PF002\":\"skip\"},",
        );
        assert_ne!(set, skipped);
        fs::write(&environment, skipped)?;
        let ran = preflight(&scratch, &[])?;
        same("exit code", 0, ran.code)?;
        assert!(!ran.stdout.contains("PF002  fail") && !ran.stdout.contains("PF002  pass"), "{}", ran.stdout);
        assert!(ran.stderr.contains("(the profile skips PF002)"), "{}", ran.stderr);
        Ok(())
    });
    for (file, id) in [
        ("sys/class/infiniband_verbs/uverbs3/ibdev", "PF101"),
        ("sys/class/infiniband/mlx5_3/ports/1/state", "PF102"),
        ("sys/class/infiniband/mlx5_3/ports/1/phys_state", "PF102"),
        ("sys/class/infiniband/mlx5_3/ports/1/rate", "PF103"),
        ("sys/class/infiniband/mlx5_3/ports/1/link_layer", "PF104"),
        (".preflight/rdma-namespaces", "PF105"),
        ("sys/class/net/rail3/mtu", "PF108"),
        ("sys/class/net/rail3/operstate", "PF201"),
        (".preflight/addresses", "PF201"),
        (".preflight/addresses", "PF202"),
        ("sys/class/infiniband/mlx5_3/ports/1/gid_attrs/types/3", "PF202"),
        ("sys/class/infiniband/mlx5_3/ports/1/gid_attrs/ndevs/3", "PF202"),
        (".preflight/addresses", "PF203"),
        ("proc/self/limits", "PF301"),
        ("proc/self/status", "PF301"),
        ("proc/self/uid_map", "PF301"),
        (".preflight/filesystems", "PF302"),
        ("proc/driver/nvidia/version", "PF401"),
        ("proc/driver/nvidia/gpus/0000:36:00.0/information", "PF403"),
        ("usr/local/lib/python3.12/dist-packages/nvidia/nccl/lib/libnccl.so.2", "PF504"),
    ] {
        suite.add(format!("preflight::unknown_without::{id}::{}", file.replace('/', "_")), move || {
            let scratch = healthy()?;
            fs::remove_file(scratch.path().join(file))?;
            let ran = preflight(&scratch, &[])?;
            let line = ran.stdout.lines().find(|line| line.starts_with(id)).unwrap_or_default();
            Ok(same(line, true, line.starts_with(&format!("{id}  unknown")))?)
        });
    }
    for name in ["expectation", "library", "netlink", "sysfs"] {
        suite.add(format!("preflight::mutated_seeds::{name}"), move || mutated(name));
    }
    suite.add("preflight::five_hundred_devices_are_counted", || Ok(many()?));
}

/// A tmpfs without a free page: the kernel makes the file, and refuses its first byte (ENOSPC).
fn full_volume() -> Result<(), String> {
    let scratch = Scratch::new()?;
    Tree::listed("roce-vf")?.write(scratch.path())?;
    let root = scratch.path().display();
    let (volume, binary) = (format!("{root}/fabric"), env!("CARGO_BIN_EXE_fabric-admission"));
    let commands = format!(
        "mkdir {volume} && mount -t tmpfs -o size=64k tmpfs {volume} && {{ head -c 1M /dev/zero > {volume}/data 2>/dev/null; \
         {binary} preflight --root {root}; }}"
    );
    let done = Command::new("unshare").args(["-rm", "bash", "-c", &commands]).output();
    let done = done.map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("PF002")).unwrap_or_default();
    same(line, true, line.starts_with("PF002  fail") && line.contains("No space left on device"))?;
    same("exit code", Some(70), done.status.code())
}

/// 500 devices, all of them usable.
fn many() -> Result<(), String> {
    let listing = "sys/class/infiniband/mlx5_{0..499}/ports/1/state = 4: ACTIVE\n\
                   sys/class/infiniband/mlx5_{0..499}/ports/1/phys_state = 5: LinkUp\n\
                   sys/class/infiniband/mlx5_{0..499}/ports/1/link_layer = Ethernet\n\
                   sys/class/infiniband/mlx5_{0..499}/ports/1/gids/0 = fe80:0000:0000:0000:0000:0000:0000:0001\n\
                   sys/class/infiniband_verbs/uverbs{0..499}/ibdev = mlx5_{n}\n\
                   dev/infiniband/uverbs{0..499} : empty\n\
                   sys/class/net/eth0/operstate = up\n";
    let scratch = Scratch::new()?;
    Tree::parse(listing)?.write(scratch.path())?;
    let ran = preflight(&scratch, &["--expect", "{\"v\":1,\"transport\":\"roce\",\"devices\":500}"])?;
    let line = ran.stdout.lines().find(|line| line.starts_with("PF101")).unwrap_or_default();
    same("PF101", true, line.contains("pass") && line.contains("500 usable RDMA devices"))
}

/// A fuzz target on its seeds with a few bytes changed: quick, and the same in each run.
fn mutated(target: &str) -> Outcome {
    use crate::readers::kept_fuzz_inputs::checks::TARGETS;
    let (_, check) = TARGETS.iter().find(|(name, _)| *name == target).ok_or("no such target")?;
    let folder = root().join("tests/fuzz/seeds").join(target);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for name in crate::support::names(&folder) {
        let seed = fs::read(folder.join(&name))?;
        for _ in 0..500 {
            let mut input = seed.clone();
            for _ in 0..1 + next() % 4 {
                let at = next() % input.len();
                // Digits keep a text in hexadecimal one; other bytes break it.
                input[at] = if next() % 4 == 0 { next() as u8 } else { b"0123456789abcdef"[next() % 16] };
            }
            input.truncate(if next() % 8 == 0 { next() % (seed.len() + 1) } else { seed.len() });
            check(&input);
        }
    }
    Ok(())
}

/// A change of others may replace the file by a link to a secret. A ConfigMap in a volume has links as well.
fn profile_files() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, scratch.path().join(name)).map_err(|e| e.to_string())
    };
    let profile = "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {name: h100}\nspec: {base: roce-sriov}\n";
    scratch.write("secret.yaml", "token: [hidden\n")?;
    scratch.write("repository/.git", "gitdir: elsewhere\n")?;
    link("../secret.yaml", "repository/profile.yaml")?;
    scratch.write("other/a.txt", "")?;
    link("../secret.yaml", "other/profile.yaml")?;
    link("/dev/zero", "other/endless.yaml")?;
    scratch.write("long.yaml", format!("{profile}# {}\n", "x".repeat(2 << 20)))?;
    scratch.write("volume/..2027/profile.yaml", profile)?;
    link("..2027", "volume/..data")?;
    link("..data/profile.yaml", "volume/profile.yaml")?;
    scratch.write("empty/.keep", "")?;
    for (file, code, words) in [
        ("repository/profile.yaml", 2, "repository/profile.yaml: the symbolic link leads to "),
        ("other/profile.yaml", 2, "other/profile.yaml: the symbolic link leads to "),
        (
            "other/endless.yaml",
            2,
            "the symbolic link does not lead to a regular file; name a file with a FabricProfile",
        ),
        ("/dev/zero", 2, "/dev/zero: the file has more than 2 MiB; name a file with one FabricProfile"),
        ("long.yaml", 2, "long.yaml: the file has more than 2 MiB; name a file with one FabricProfile"),
        ("volume/profile.yaml", 0, ""),
        ("volume/..data/profile.yaml", 0, ""),
    ] {
        let ran = run(&["preflight", "--root", "empty", "--profile-file", file], b"", scratch.path())?;
        same(&format!("{file}: {}", ran.stderr), true, ran.stderr.contains(words))?;
        same(&format!("usage error of {file}"), code == 2, ran.code == 2)?;
        same("shows the other file", false, (ran.stderr + &ran.stdout).contains("hidden"))?;
    }
    Ok(())
}

/// Otherwise every check would be skipped, and the run would pass.
fn a_root_that_is_missing() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("file", "")?;
    for command in [&["preflight"][..], &["monitor", "--listen", "127.0.0.1:0"]] {
        for place in ["nothing", "file"] {
            let ran = run(&[command, &["--root", place]].concat(), b"", scratch.path())?;
            let words = format!("invalid value '{place}' for '--root <DIR>': expected an existing directory");
            same(
                &format!("{command:?}: {}", ran.stderr),
                (2, true),
                (ran.code, ran.stderr.contains(&words)),
            )?;
        }
    }
    Ok(())
}

/// With `--root`, preflight writes into the recorded tree only.
fn paths_out_of_the_root() -> Result<(), String> {
    for key in ["write", "facts"] {
        for (path, words) in [
            ("/fabric/../../out", "/fabric/../../out: the path contains `..`; write the path without `..`"),
            ("/away/out", "/away/out: a symbolic link leads out of the directory of --root; remove the link"),
            ("/nothing", "/nothing: a symbolic link leads to no file; remove the link"),
        ] {
            let scratch = Scratch::new()?;
            scratch.write("root/fabric/a", "")?;
            for (target, name) in [("..", "root/away"), ("../out", "root/nothing")] {
                std::os::unix::fs::symlink(target, scratch.path().join(name)).map_err(|e| e.to_string())?;
            }
            let expect = format!("{{\"v\":1,\"transport\":\"ethernet\",\"{key}\":\"{path}\"}}");
            let ran = run(&["preflight", "--root", "root", "--expect", &expect], b"", scratch.path())?;
            let line = ran.stdout.lines().find(|line| line.starts_with("PF002")).unwrap_or_default();
            same(&format!("{key}: {}", ran.stdout), true, line.contains("fail") && line.contains(words))?;
            same("outside", false, scratch.path().join("out").exists())?;
        }
    }
    Ok(())
}

//! Trees with far more devices than a node has: a tree may be recorded by anyone, and `monitor` reads one again and again.

use crate::support::Scratch;
use crate::support::suite::Suite;
use fabric_admission::pod_agent::{Options, Root, read_everything};
use fabric_admission::preflight::facts_json_for_monitor::Facts;
use fabric_admission::preflight::nccl_conf_lines_from_readings::Conf;
use fabric_admission::preflight::preflight_report::Report;
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("preflight::devices_and_interfaces_are_matched_once", || Ok(matched_once()?));
    suite.add("preflight::sixteen_ports_of_a_device_are_read", || Ok(many_ports()?));
    suite.add("preflight::a_list_of_commas_is_not_read_to_its_end_for_each_device", || Ok(commas()?));
}

/// So many devices that can be used, each with an interface.
fn tree(devices: usize) -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    for n in 0..devices {
        scratch.write(&format!("sys/class/infiniband/mlx5_{n}/node_type"), "1: CA\n")?;
        scratch.write(&format!("sys/class/infiniband_verbs/uverbs{n}/ibdev"), format!("mlx5_{n}\n"))?;
        scratch.write(&format!("dev/infiniband/uverbs{n}"), "")?;
        scratch.write(&format!("sys/class/net/net{n}/device/infiniband/mlx5_{n}"), "")?;
    }
    Ok(scratch)
}

/// Four times the devices and interfaces take less than 24 times as long; with a search through all devices for each pair of
/// them, 64 times.
fn matched_once() -> Result<(), String> {
    let time = |devices: usize| {
        let scratch = tree(devices)?;
        let seen = read_everything(&Options { root: Root::new(scratch.path()), expect: None });
        let (report, conf) = (Report::run_all_checks(&seen), Conf::lines_from_readings(&seen));
        let before = now();
        let facts = Facts::facts_from_readings(&seen, &report, &conf, "test");
        let took = now() - before;
        let named = facts
            .devices
            .unwrap_or_default()
            .into_iter()
            .filter(|device| device.interface.as_deref() == Some(&*device.name.replace("mlx5_", "net")));
        match named.count() == devices {
            true => Ok(took.max(Duration::from_millis(1))),
            false => Err(format!("{devices} devices, of which some have no interface")),
        }
    };
    let (few, many) = (time(100)?, time(400)?);
    if many > few * 24 { Err(format!("{few:?} for 100 devices, {many:?} for 400")) } else { Ok(()) }
}

/// 60 times the empty items of `NCCL_IB_HCA` take less than 8 times as long; if each device reads them all, 40 to 60 times.
fn commas() -> Result<(), String> {
    let scratch = tree(64)?;
    for (file, content) in [
        ("state", "4: ACTIVE"),
        ("phys_state", "5: LinkUp"),
        ("rate", "400 Gb/sec (4X NDR)"),
        ("link_layer", "Ethernet"),
    ] {
        for port in 1..=16 {
            scratch.write(&format!("ports/{port}/{file}"), format!("{content}\n"))?;
        }
    }
    for n in 0..64 {
        let link = scratch.path().join(format!("sys/class/infiniband/mlx5_{n}/ports"));
        symlink(scratch.path().join("ports"), link).map_err(|error| error.to_string())?;
    }
    let time = |commas: usize| {
        let set = format!("NCCL_IB_HCA={}mlx5_0\n", ",".repeat(commas));
        scratch.write(".preflight/environment", set)?;
        let seen = read_everything(&Options { root: Root::new(scratch.path()), expect: None });
        let before = now();
        let report = Report::run_all_checks(&seen);
        let took = (now() - before).max(Duration::from_millis(1));
        if report.checks.is_empty() { Err("no check".to_owned()) } else { Ok(took) }
    };
    let (few, many) = (time(1_000)?, time(60_000)?);
    if many > few * 8 { Err(format!("{few:?} for 1,000 commas, {many:?} for 60,000")) } else { Ok(()) }
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Links let every device have the same thousands of ports.
fn many_ports() -> Result<(), String> {
    let scratch = tree(2)?;
    for port in 1..=4_096 {
        fs::create_dir_all(scratch.path().join(format!("ports/{port}")))
            .map_err(|error| error.to_string())?;
    }
    let link = scratch.path().join("sys/class/infiniband/mlx5_1/ports");
    symlink(scratch.path().join("ports"), link).map_err(|error| error.to_string())?;
    let seen = read_everything(&Options { root: Root::new(scratch.path()), expect: None });
    let devices = seen.devices.map_err(|why| why.to_string())?;
    let ports: Vec<Option<usize>> =
        devices.iter().map(|device| device.ports.as_ref().ok().map(Vec::len)).collect();
    match ports == [None, Some(16)] {
        true => Ok(()),
        false => Err(format!("{ports:?}")),
    }
}

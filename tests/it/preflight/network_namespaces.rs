//! `preflight` in real network namespaces: the kernel's own answers by netlink.

use crate::support::root;

use crate::support::suite::Suite;
use std::process::Command;

pub(crate) fn add(suite: &mut Suite) {
    const NAMES: [&str; 1] = ["preflight::the_kernel_gives_the_addresses_of_this_namespace"];
    let unshared = Command::new("unshare").args(["-rn", "ip", "link", "show"]).output();
    if !unshared.is_ok_and(|done| done.status.success()) {
        for name in NAMES {
            suite.missing("no unshare and ip, or they may not make a network namespace", name);
        }
        return;
    }
    suite.add(NAMES[0], || Ok(addresses()?));
}

/// A pair of interfaces, one with an address and one without.
fn addresses() -> Result<(), String> {
    let binary = env!("CARGO_BIN_EXE_fabric-admission");
    let expect = r#"{"v":1,"transport":"ethernet","interfaces":["rail0","rail1"]}"#;
    let commands = |address: &str| {
        format!(
            "ip link add rail0 type veth peer name rail1 && ip link set rail0 up && ip link set rail1 up && \
             ip addr add 10.9.0.5/24 dev rail0 && {address} mount -t sysfs sysfs /sys && {binary} preflight --expect '{expect}'"
        )
    };
    for (address, verdict, words) in [
        ("", "PF201  fail", "rail1 has no address"),
        ("ip addr add fd00::5/64 dev rail1 &&", "PF201  pass", "2 interfaces up, with an address"),
    ] {
        let done = Command::new("unshare")
            .args(["-rnm", "bash", "-c", &commands(address)])
            .current_dir(root())
            .output()
            .map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let line = text.lines().find(|line| line.starts_with("PF201")).unwrap_or_default();
        let seen = line.starts_with(verdict) && line.contains(words);
        if !seen {
            return Err(format!("{line:?}\n{text}\n{}", String::from_utf8_lossy(&done.stderr)));
        }
    }
    Ok(())
}

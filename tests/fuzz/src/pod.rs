//! Readers of what a pod sees: files of sysfs and `/proc`, messages of netlink, libraries, the documents of preflight.

use fabric_admission::preflight::expectation_document::Expectation;
use fabric_admission::preflight::facts_json_for_monitor::Facts;
use fabric_admission::preflight::gpu_file;
use fabric_admission::preflight::image::{elf, libibverbs_driver_config, library_versions, loader_cache};
use fabric_admission::rdma::why_unreadable::name;
use fabric_admission::rdma::{
    gid, interface_addresses, net_dev, netlink, netlink_counters, port, process_limits, read_counter_file,
};

/// Bytes that a seed writes in hexadecimal, so that seeds are texts; any other input as it is.
fn bytes(data: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = data.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    let value = |digit: u8| (digit as char).to_digit(16);
    let pairs = digits.chunks(2).map(|pair| Some((value(pair[0])? * 16 + value(*pair.get(1)?)?) as u8));
    pairs.collect::<Option<Vec<u8>>>().unwrap_or_else(|| data.to_vec())
}

/// Files of sysfs and `/proc`: what is read has the bounds of its kind, and a reason fits a line.
pub fn sysfs(data: &[u8]) {
    let short = |why: &dyn std::fmt::Display| {
        let words = why.to_string();
        assert!(words.len() < 400 && !words.contains('\n'), "{words:?}");
    };
    if let Err(why) = port::state(data) {
        short(&why);
    }
    match port::physical_state(data) {
        Ok(state) => assert!(state.number <= 7),
        Err(why) => short(&why),
    }
    if let (Ok(rate), Ok(text)) = (port::rate(data), std::str::from_utf8(data)) {
        assert!(
            text.contains("Gb/sec") && text.trim_start().starts_with(&rate.gigabits().to_string()[..1])
                || text.trim_start().starts_with('0')
        );
    }
    if let Ok(gid) = gid::gid(data) {
        assert_eq!(gid.is_empty(), gid.0 == [0; 16]);
        let _ = (gid.address(), gid.guid(), gid.is_link_local());
    }
    if let Ok(name) = name(data) {
        assert!(!name.is_empty() && !name.contains(['/', '\n', '\0']));
    }
    if let Ok(found) = interface_addresses::parse_recorded_addresses(data) {
        assert!(found.len() <= data.len());
    }
    match net_dev::parse_interface_bytes(data) {
        Ok(found) => assert!(found.len() <= 256),
        Err(why) => short(&why),
    }
    if let Err(why) = gpu_file::parse_device_minor(data) {
        short(&why);
    }
    if let Ok(found) = netlink_counters::parse_recorded_counters(data) {
        assert!(found.len() <= data.len() / 7);
    }
    let _ = (port::link_layer(data), port::hexadecimal(data), port::decimal(data), gid::gid_type(data));
    let _ = (read_counter_file::port_counter("link_downed", data), read_counter_file::hardware_counter(data));
    let _ = (
        process_limits::parse_memlock(data),
        process_limits::ipc_lock(data),
        process_limits::initial_user_namespace(data),
    );
}

/// Answers of netlink: no more addresses, devices and counters than there can be in the bytes.
pub fn netlink(data: &[u8]) {
    let data = bytes(data);
    let _ = netlink::parse_namespace_mode(&data);
    if let Ok((found, _)) = netlink::parse_addresses(&data) {
        assert!(found.len() <= data.len() / 24);
        assert!(netlink::with_interface_names(found, &[]).is_empty());
    }
    if let Ok((found, _)) = netlink_counters::parse_devices(&data) {
        assert!(found.len() <= data.len() / 24);
        assert!(found.iter().all(|(_, name)| !name.is_empty() && !name.contains(['/', '\0'])));
    }
    if let Ok(found) = netlink_counters::parse_counters(&data) {
        assert!(found.len() <= 512 && found.len() <= data.len() / 16);
    }
}

/// Libraries, and the cache of the loader.
pub fn library(data: &[u8]) {
    let data = bytes(data);
    if let Ok(found) = elf::parse_elf(&data) {
        assert!(found.needed.len() <= 512);
    }
    let _ = (library_versions::nccl_version_in_block(&data), library_versions::provider_number(&data));
    assert!(
        library_versions::driver_folder(&data)
            .is_none_or(|f| f.starts_with('/') && f.ends_with("/libibverbs.d"))
    );
    let is_blank = |name: &String| name.is_empty() || name.contains([' ', '\t', '\n']);
    assert!(!libibverbs_driver_config::driver_names(&data).iter().any(is_blank));
    assert!(loader_cache::paths_of_library(&data, "libibverbs.so.1").len() <= data.len() / 24);
}

/// The expectation and the facts: what is read has our version, and is read back as it is written.
pub fn expectation(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(expected) = Expectation::parse(text) {
        assert_eq!(expected.v, 1);
        assert_eq!(Expectation::parse(&expected.to_text()).as_ref(), Ok(&expected));
    }
    if let Ok(facts) = Facts::parse(text) {
        assert_eq!(Facts::parse(&facts.to_text()).as_ref(), Ok(&facts));
    }
}

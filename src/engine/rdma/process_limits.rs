//! Limits, capabilities and the user namespace of the process: `/proc/self/{limits,status,uid_map}`.

use super::why_unreadable::{Reading, Unreadable};

/// The soft limit of locked memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memlock {
    /// Bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

fn text(content: &[u8]) -> Reading<&str> {
    std::str::from_utf8(content).map_err(|_| Unreadable::unexpected_form(content))
}

/// Reads the soft limit of `Max locked memory` in `/proc/self/limits`.
///
/// # Errors
/// A file without this line, or with another form of it.
pub fn parse_memlock(content: &[u8]) -> Reading<Memlock> {
    let line = text(content)?.lines().find_map(|line| line.strip_prefix("Max locked memory"));
    let mut words = line.ok_or_else(|| Unreadable::unexpected_form(content))?.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("unlimited"), Some(_), Some("bytes")) => Ok(Memlock::Unlimited),
        (Some(soft), Some(_), Some("bytes")) => {
            soft.parse().map(Memlock::Bytes).map_err(|_| Unreadable::unexpected_form(soft.as_bytes()))
        }
        _ => Err(Unreadable::unexpected_form(line.unwrap_or_default().as_bytes())),
    }
}

/// Bit of `CAP_IPC_LOCK` in a set of capabilities (linux `include/uapi/linux/capability.h`).
const IPC_LOCK: u32 = 14;

/// Whether the effective set in `/proc/self/status` has `CAP_IPC_LOCK`.
///
/// # Errors
/// A file without this line, or with another form of it.
pub fn ipc_lock(content: &[u8]) -> Reading<bool> {
    let set = text(content)?.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.ok_or_else(|| Unreadable::unexpected_form(content))?.trim();
    let bits = u64::from_str_radix(set, 16).map_err(|_| Unreadable::unexpected_form(set.as_bytes()))?;
    Ok(bits >> IPC_LOCK & 1 == 1)
}

/// Whether `/proc/self/uid_map` is that of the initial user namespace. In another one `CAP_IPC_LOCK` does not lift the limit
/// for RDMA memory: `ib_umem_get` asks the initial namespace (linux `drivers/infiniband/core/umem.c`).
///
/// # Errors
/// A file without a line of three numbers.
pub fn initial_user_namespace(content: &[u8]) -> Reading<bool> {
    let first = text(content)?.lines().next().unwrap_or_default();
    let numbers: Vec<u64> = first.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        [inside, outside, length] => Ok((*inside, *outside, *length) == (0, 0, 4_294_967_295)),
        _ => Err(Unreadable::unexpected_form(content)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_kernels_print_them() {
        let limits = |value: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\nMax processes             1                    1                    processes\nMax locked memory         {value}\n"
            )
        };
        let read = |value| parse_memlock(limits(value).as_bytes());
        assert_eq!(read("8388608              8388608              bytes"), Ok(Memlock::Bytes(8 << 20)));
        assert_eq!(read("unlimited            unlimited            bytes"), Ok(Memlock::Unlimited));
        assert!(read("").is_err() && read("many many bytes").is_err() && parse_memlock(b"").is_err());
    }

    #[test]
    fn capabilities_and_namespaces() {
        assert_eq!(ipc_lock(b"Name:\tx\nCapEff:\t00000000a80465fb\n"), Ok(true));
        assert_eq!(ipc_lock(b"CapEff:\t00000000a80425fb\n"), Ok(false));
        assert!(ipc_lock(b"CapEff:\tzz\n").is_err() && ipc_lock(b"CapPrm:\t0\n").is_err());
        assert_eq!(initial_user_namespace(b"         0          0 4294967295\n"), Ok(true));
        assert_eq!(initial_user_namespace(b"         0     165536      65536\n"), Ok(false));
        assert!(initial_user_namespace(b"").is_err());
    }
}

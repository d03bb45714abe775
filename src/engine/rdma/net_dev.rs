//! Bytes of the interfaces of a network namespace, `/proc/net/dev` (proc_net_dev(5)). Bytes that an RDMA device moves
//! do not appear there; those of TCP do.

use super::why_unreadable::{Reading, Unreadable};

/// Bytes that an interface has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceBytes {
    /// Name.
    pub interface: String,
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
}

/// Most interfaces that are kept.
const MOST: usize = 256;

/// Reads `/proc/net/dev`: two lines of headings, then a line for each interface.
///
/// # Errors
/// Any other form.
pub fn parse_interface_bytes(content: &[u8]) -> Reading<Vec<InterfaceBytes>> {
    let text = std::str::from_utf8(content).map_err(|_| Unreadable::unexpected_form(content))?;
    if !text.starts_with("Inter-|") {
        return Err(Unreadable::unexpected_form(content));
    }
    let read = |line: &str| {
        let (name, values) = line.split_once(':')?;
        let mut values = values.split_ascii_whitespace();
        // Bytes are the first column of both halves, and each half has eight.
        let (received, sent) = (values.next()?.parse().ok()?, values.nth(7)?.parse().ok()?);
        Some(InterfaceBytes { interface: name.trim().to_owned(), received, sent })
    };
    let lines = text.lines().skip(2).take(MOST).filter(|line| !line.trim().is_empty());
    lines.map(|line| read(line).ok_or_else(|| Unreadable::unexpected_form(line.as_bytes()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_both_directions() {
        let text = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0
  eth0:123456789012 3 0 0 0 0 0 0 98765 4 0 0 0 0 0 0
";
        let found = parse_interface_bytes(text.as_bytes()).unwrap();
        let eth0 = InterfaceBytes { interface: "eth0".to_owned(), received: 123_456_789_012, sent: 98765 };
        assert_eq!(found.get(1), Some(&eth0));
        assert_eq!(found.len(), 2);
        for junk in [&b""[..], b"eth0: 1 2 3", b"Inter-|\n face |\neth0: 1 2 3\n", b"Inter-|\n\nnonsense\n"] {
            assert!(parse_interface_bytes(junk).is_err(), "{junk:?}");
        }
    }
}

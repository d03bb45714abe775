//! Reads the file of one counter, in `counters/` or `hw_counters/`, and whether the counter is at its maximum. Which files
//! are read is decided in `monitor::which_counters_become_metrics`.

use super::why_unreadable::{Reading, Unreadable, line};

/// A counter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Its value.
    Value(u64),
    /// The counter has reached its maximum, where it stays: the real number is this or more.
    Saturated(u64),
}

/// Bits of the port counters that stop at their maximum (linux `drivers/infiniband/core/sysfs.c`, performance management
/// datagrams). All others have 64 bits.
const BITS_OF_SATURATING_COUNTERS: [(&str, u32); 13] = [
    ("VL15_dropped", 16),
    ("excessive_buffer_overrun_errors", 4),
    ("link_downed", 8),
    ("link_error_recovery", 8),
    ("local_link_integrity_errors", 4),
    ("port_rcv_constraint_errors", 8),
    ("port_rcv_errors", 16),
    ("port_rcv_remote_physical_errors", 16),
    ("port_rcv_switch_relay_errors", 16),
    ("port_xmit_constraint_errors", 8),
    ("port_xmit_discards", 16),
    ("port_xmit_wait", 32),
    ("symbol_error", 16),
];

/// Reads a counter in `counters/` by its name. `N/A (no PMA)` of older kernels is a driver that does not support it.
///
/// # Errors
/// Any content that is not a number.
pub fn port_counter(name: &str, content: &[u8]) -> Reading<Counter> {
    let value = hardware_counter(content)?;
    let bits =
        BITS_OF_SATURATING_COUNTERS.iter().find(|(narrow, _)| *narrow == name).map_or(64, |(_, bits)| *bits);
    let most = u64::MAX >> (64 - bits);
    Ok(if value >= most { Counter::Saturated(value) } else { Counter::Value(value) })
}

/// Reads a counter in `hw_counters/`. These wrap.
///
/// # Errors
/// Any content that is not a number.
pub fn hardware_counter(content: &[u8]) -> Reading<u64> {
    let text = line(content)?;
    if text.starts_with("N/A") {
        return Err(Unreadable::Unsupported);
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten().ok_or_else(|| Unreadable::unexpected_form(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_at_their_maximum_are_saturated() {
        assert_eq!(port_counter("link_downed", b"255\n"), Ok(Counter::Saturated(255)));
        assert_eq!(port_counter("link_downed", b"3\n"), Ok(Counter::Value(3)));
        assert_eq!(port_counter("port_xmit_discards", b"65535"), Ok(Counter::Saturated(65535)));
        assert_eq!(port_counter("port_xmit_wait", b"4294967295"), Ok(Counter::Saturated(4_294_967_295)));
        assert_eq!(port_counter("port_rcv_data", b"4294967295"), Ok(Counter::Value(4_294_967_295)));
        assert_eq!(port_counter("port_rcv_data", b"18446744073709551615"), Ok(Counter::Saturated(u64::MAX)));
        assert_eq!(port_counter("symbol_error", b"N/A (no PMA)\n"), Err(Unreadable::Unsupported));
        for junk in [&b"-1"[..], b"", b"0x10", b"18446744073709551616"] {
            assert!(hardware_counter(junk).is_err(), "{junk:?}");
        }
    }
}

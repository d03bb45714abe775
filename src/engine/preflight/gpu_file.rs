//! `/proc/driver/nvidia/gpus/<address>/information` of the NVIDIA driver.

use crate::rdma::{Reading, Unreadable};

/// Number of the GPU's device file, `/dev/nvidiaN`.
///
/// # Errors
/// A file without the line `Device Minor:`, or with another form of it.
pub fn parse_device_minor(content: &[u8]) -> Reading<u32> {
    let text = String::from_utf8_lossy(content);
    let minor = text.lines().find_map(|line| line.strip_prefix("Device Minor:")?.trim().parse().ok());
    minor.ok_or_else(|| Unreadable::unexpected_form(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_stands_in_its_line() {
        assert_eq!(parse_device_minor(b"Model: \t NVIDIA H100\nDevice Minor: \t 7\n"), Ok(7));
        for junk in [&b""[..], b"Device Minor: seven", b"Device Minor: -1", b"\xff", b"Minor: 7"] {
            assert!(parse_device_minor(junk).is_err(), "{junk:?}");
        }
    }
}

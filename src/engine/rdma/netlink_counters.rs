//! Counters of a port by netlink, `RDMA_NLDEV_CMD_STAT_GET` (linux `include/uapi/rdma/rdma_netlink.h`,
//! `drivers/infiniband/core/nldev.c` `stat_get_doit_default_counter`). They have the names and the values of
//! `hw_counters/`, and come from the device itself, so that a pod gets them in shared mode too, where the files are
//! missing. Neither request needs a privilege.

use super::netlink::{DONE, attributes, encode_attribute, encode_request, messages};
use super::why_unreadable::{Reading, Unreadable, name};

/// `RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)`: client 5, command 1.
const DEVICE_GET: u16 = 5 << 10 | 1;
/// Command 17.
const STAT_GET: u16 = 5 << 10 | 17;
const DUMP: u16 = 0x300;
const DEVICE_INDEX: u16 = 1;
const DEVICE_NAME: u16 = 2;
const PORT_INDEX: u16 = 3;
const COUNTERS: u16 = 80;
const COUNTER: u16 = 81;
const COUNTER_NAME: u16 = 82;
const COUNTER_VALUE: u16 = 83;
/// Most counters of a port; mlx5 has about 50.
const MOST: usize = 512;

/// Asks for the devices that this network namespace sees.
#[must_use]
pub fn devices_request() -> Vec<u8> {
    encode_request(DEVICE_GET, DUMP, &[])
}

/// A part of the answer to [`devices_request`]: index and name of each device, and whether it was the last part.
///
/// # Errors
/// The kernel's error.
pub fn parse_devices(answer: &[u8]) -> Reading<(Vec<(u32, String)>, bool)> {
    let mut found = Vec::new();
    for message in messages(answer) {
        if let Some(error) = message.error() {
            return Err(error);
        }
        if message.kind == DONE {
            return Ok((found, true));
        }
        if message.kind != DEVICE_GET {
            continue;
        }
        let of = |wanted| attributes(message.body).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
        let index = of(DEVICE_INDEX).and_then(|value| <[u8; 4]>::try_from(value).ok());
        let text = of(DEVICE_NAME).and_then(|value| name(value.strip_suffix(&[0]).unwrap_or(value)).ok());
        found.extend(index.zip(text).map(|(index, name)| (u32::from_ne_bytes(index), name)));
    }
    Ok((found, false))
}

/// Asks for the counters of a port.
#[must_use]
pub fn counters_request(device: u32, port: u32) -> Vec<u8> {
    let body = [
        encode_attribute(DEVICE_INDEX, &device.to_ne_bytes()),
        encode_attribute(PORT_INDEX, &port.to_ne_bytes()),
    ];
    encode_request(STAT_GET, 0, &body.concat())
}

/// The answer to [`counters_request`]: names and values.
///
/// # Errors
/// The kernel's error, such as EINVAL for a driver without counters, or an answer without counters.
pub fn parse_counters(answer: &[u8]) -> Reading<Vec<(String, u64)>> {
    for message in messages(answer) {
        if let Some(error) = message.error() {
            return Err(error);
        }
        if message.kind != STAT_GET {
            continue;
        }
        let mut found = Vec::new();
        let tables = attributes(message.body).filter(|(kind, _)| *kind == COUNTERS);
        for (_, entry) in tables.flat_map(|(_, table)| attributes(table)).filter(|(kind, _)| *kind == COUNTER)
        {
            let of = |wanted| attributes(entry).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
            let text = of(COUNTER_NAME).and_then(|text| name(text.strip_suffix(&[0]).unwrap_or(text)).ok());
            let value = of(COUNTER_VALUE).and_then(|value| <[u8; 8]>::try_from(value).ok());
            found.extend(text.zip(value).map(|(name, value)| (name, u64::from_ne_bytes(value))));
        }
        found.truncate(MOST);
        return Ok(found);
    }
    Err(Unreadable::NotRead("the kernel's answer has no counters"))
}

/// Reads counters from lines such as `mlx5_0 1 np_cnp_sent 7`. That is how a recorded tree of files holds what the
/// kernel returns by netlink only.
///
/// # Errors
/// A line of another form.
pub fn parse_recorded_counters(content: &[u8]) -> Reading<Vec<(String, u32, String, u64)>> {
    let text = std::str::from_utf8(content).map_err(|_| Unreadable::unexpected_form(content))?;
    let read = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (device, port) = (words.next()?, words.next()?.parse().ok()?);
        let (name, value) = (words.next()?, words.next()?.parse().ok()?);
        words.next().is_none().then(|| (device.to_owned(), port, name.to_owned(), value))
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| read(line).ok_or_else(|| Unreadable::unexpected_form(line.as_bytes()))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::netlink::of_kernel;
    use super::*;

    /// A nested attribute carries the flag in its upper bit.
    fn nested(kind: u16, body: &[u8]) -> Vec<u8> {
        encode_attribute(kind | 0x8000, body)
    }

    fn counter(name: &str, value: u64) -> Vec<u8> {
        let name = encode_attribute(COUNTER_NAME, format!("{name}\0").as_bytes());
        nested(COUNTER, &[name, encode_attribute(COUNTER_VALUE, &value.to_ne_bytes())].concat())
    }

    /// Modelled on the kernel's source, not recorded.
    #[test]
    fn devices_by_index() {
        let device = |index: u32, name: &str| {
            let body = [
                encode_attribute(DEVICE_INDEX, &index.to_ne_bytes()),
                encode_attribute(DEVICE_NAME, name.as_bytes()),
            ];
            of_kernel(DEVICE_GET, &body.concat())
        };
        let answer = [device(0, "mlx5_0\0"), device(7, "mlx5_1\0"), of_kernel(DONE, &[0; 4])].concat();
        let expected = vec![(0, "mlx5_0".to_owned()), (7, "mlx5_1".to_owned())];
        assert_eq!(parse_devices(&answer), Ok((expected, true)));
        assert_eq!(parse_devices(&device(0, "a/b\0")), Ok((vec![], false)));
        for cut in 0..answer.len() {
            let _ = parse_devices(&answer[..cut]);
        }
    }

    #[test]
    fn counters_of_a_port() {
        let request = counters_request(7, 1);
        assert_eq!(request[..6], [32, 0, 0, 0, 17, 20]);
        assert_eq!(request[16..], [8, 0, 1, 0, 7, 0, 0, 0, 8, 0, 3, 0, 1, 0, 0, 0]);
        let table =
            nested(COUNTERS, &[counter("np_cnp_sent", 7), counter("out_of_buffer", u64::MAX)].concat());
        let answer = of_kernel(STAT_GET, &[encode_attribute(DEVICE_INDEX, &[7, 0, 0, 0]), table].concat());
        let expected = vec![("np_cnp_sent".to_owned(), 7), ("out_of_buffer".to_owned(), u64::MAX)];
        assert_eq!(parse_counters(&answer), Ok(expected));
        assert_eq!(parse_counters(&of_kernel(2, &(-22_i32).to_ne_bytes())), Err(Unreadable::Invalid));
        assert!(parse_counters(b"").is_err());
        for cut in 0..answer.len() {
            let _ = parse_counters(&answer[..cut]);
        }
    }

    #[test]
    fn counters_of_a_recorded_tree() {
        let expected = vec![("mlx5_0".to_owned(), 1, "np_cnp_sent".to_owned(), 7)];
        assert_eq!(parse_recorded_counters(b"mlx5_0 1 np_cnp_sent 7\n\n"), Ok(expected));
        for junk in [&b"mlx5_0 1 np_cnp_sent"[..], b"mlx5_0 one a 1", b"a 1 b -1", b"a 1 b 1 c", b"\xff"] {
            assert!(parse_recorded_counters(junk).is_err(), "{junk:?}");
        }
    }
}

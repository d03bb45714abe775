//! Files of a port, `/sys/class/infiniband/<device>/ports/<port>/`, and of a device.

use super::why_unreadable::{Reading, Unreadable, line};

/// `state`, such as `4: ACTIVE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// 0.
    Nop,
    /// 1.
    Down,
    /// 2.
    Init,
    /// 3.
    Armed,
    /// 4.
    Active,
    /// 5.
    ActiveDefer,
}

impl State {
    /// The kernel's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nop => "NOP",
            Self::Down => "DOWN",
            Self::Init => "INIT",
            Self::Armed => "ARMED",
            Self::Active => "ACTIVE",
            Self::ActiveDefer => "ACTIVE_DEFER",
        }
    }
}

/// Reads `state`.
///
/// # Errors
/// Any other form.
pub fn state(content: &[u8]) -> Reading<State> {
    match numbered(content)?.0 {
        0 => Ok(State::Nop),
        1 => Ok(State::Down),
        2 => Ok(State::Init),
        3 => Ok(State::Armed),
        4 => Ok(State::Active),
        5 => Ok(State::ActiveDefer),
        _ => Err(Unreadable::unexpected_form(content)),
    }
}

/// Reads `phys_state`, such as `5: LinkUp`. The word may contain a space (`7: Phy Test`).
///
/// # Errors
/// Any other form, and numbers that the kernel does not use.
pub fn physical_state(content: &[u8]) -> Reading<PhysicalState> {
    let (number, word) = numbered(content)?;
    if number > 7 {
        return Err(Unreadable::unexpected_form(content));
    }
    Ok(PhysicalState { number, word: word.to_owned() })
}

/// `phys_state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhysicalState {
    /// The number.
    pub number: u32,
    /// The kernel's word, such as `LinkUp`, `Polling`, `Disabled`.
    pub word: String,
}

impl PhysicalState {
    /// Whether the link is up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.number == 5
    }
}

/// `4: ACTIVE` as number and word.
fn numbered(content: &[u8]) -> Reading<(u32, &str)> {
    let text = line(content)?;
    let parts = text.split_once(": ").and_then(|(number, word)| Some((digits(number)?, word)));
    parts.ok_or_else(|| Unreadable::unexpected_form(content))
}

/// A decimal number, without a sign.
fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Reads `rate`, such as `400 Gb/sec (4X NDR)`: tenths of Gbit/s. Only the number counts: kernels print a wrong generation
/// for speeds that they do not know, and EFA prints `8X HDR` for 400 Gbit/s (linux efa_verbs.c).
///
/// # Errors
/// Any other form.
pub fn rate(content: &[u8]) -> Reading<Rate> {
    let odd = || Unreadable::unexpected_form(content);
    let (number, unit) = line(content)?.split_once(' ').ok_or_else(odd)?;
    if !unit.starts_with("Gb/sec") {
        return Err(odd());
    }
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let tenths = digits(whole).zip(digits(tenth)).filter(|(_, tenth)| *tenth < 10);
    let tenths = tenths.and_then(|(whole, tenth)| whole.checked_mul(10)?.checked_add(tenth));
    tenths.map(|tenths| Rate { tenths }).ok_or_else(odd)
}

/// `rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    tenths: u32,
}

impl Rate {
    /// Whole Gbit/s, rounded down.
    #[must_use]
    pub fn gigabits(self) -> u32 {
        self.tenths / 10
    }
}

/// `link_layer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkLayer {
    /// InfiniBand.
    InfiniBand,
    /// Ethernet, which is RoCE.
    Ethernet,
    /// Neither, as EFA shows.
    Unknown,
}

impl LinkLayer {
    /// The kernel's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::InfiniBand => "InfiniBand",
            Self::Ethernet => "Ethernet",
            Self::Unknown => "Unknown",
        }
    }
}

/// Reads `link_layer`.
///
/// # Errors
/// Any other word.
pub fn link_layer(content: &[u8]) -> Reading<LinkLayer> {
    match line(content)? {
        "InfiniBand" => Ok(LinkLayer::InfiniBand),
        "Ethernet" => Ok(LinkLayer::Ethernet),
        "Unknown" => Ok(LinkLayer::Unknown),
        _ => Err(Unreadable::unexpected_form(content)),
    }
}

/// Reads a hexadecimal number of 16 bits, as in `lid`, `sm_lid` and `pkeys/N`: `0x1f`.
///
/// # Errors
/// Any other form.
pub fn hexadecimal(content: &[u8]) -> Reading<u16> {
    let digits = line(content)?.strip_prefix("0x").filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    digits
        .and_then(|digits| u16::from_str_radix(digits, 16).ok())
        .ok_or_else(|| Unreadable::unexpected_form(content))
}

/// Reads a decimal number without a sign, as in `mtu` and `type` of an interface.
///
/// # Errors
/// Any other form.
pub fn decimal(content: &[u8]) -> Reading<u64> {
    let text = line(content)?;
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten().ok_or_else(|| Unreadable::unexpected_form(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_rates_as_kernels_print_them() {
        assert_eq!(state(b"4: ACTIVE\n"), Ok(State::Active));
        assert_eq!(state(b"5: ACTIVE_DEFER\n"), Ok(State::ActiveDefer));
        assert_eq!(physical_state(b"7: Phy Test\n").map(|s| s.word), Ok("Phy Test".to_owned()));
        assert!(physical_state(b"5: LinkUp\n").is_ok_and(|s| s.is_up()));
        for (text, gigabits) in
            [("400 Gb/sec (4X NDR)\n", 400), ("2.5 Gb/sec (1X SDR)\n", 2), ("10 Gb/sec (4X)", 10)]
        {
            assert_eq!(rate(text.as_bytes()).map(Rate::gigabits), Ok(gigabits), "{text}");
        }
        assert_eq!(link_layer(b"Unknown\n"), Ok(LinkLayer::Unknown));
        assert_eq!((hexadecimal(b"0x1f\n"), hexadecimal(b"0xffff")), (Ok(31), Ok(0xffff)));
    }

    #[test]
    fn other_contents_have_a_reason() {
        for junk in
            [&b""[..], b"\n", b"\xff\xfe", b"4", b"ACTIVE", b"-4: ACTIVE", b"9: UNKNOWN", b"a\nb", b"0x"]
        {
            assert!(state(junk).is_err() && physical_state(junk).is_err(), "{junk:?}");
            assert!(
                rate(junk).is_err() && link_layer(junk).is_err() && hexadecimal(junk).is_err(),
                "{junk:?}"
            );
            assert!(junk == b"4" || decimal(junk).is_err(), "{junk:?}");
        }
        assert!(rate(b"99999999999 Gb/sec").is_err() && rate(b"400 Mb/sec").is_err());
        assert_eq!(state(b"\x1b[2J").unwrap_err().to_string(), "has an unknown form: \"?[2J\"");
    }
}

//! Values that a program takes otherwise than they read.

use super::numbers_as_nccl_reads::{
    has_unknown_part, is_read_as_number, leading_number, starts_with_no_number,
};
use super::variable_table::{Reading, Variable};

/// Words of distance between devices (NVIDIA/nccl src/graph/paths.cc, `ncclTopoGetLevel`).
const LEVELS: [&str; 10] = ["LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"];

/// The word in a value that is not in the program's closed set. Texts with unknown parts are never judged.
#[must_use]
pub fn unknown_word<'v>(variable: &Variable, value: &'v str) -> Option<&'v str> {
    if value.is_empty() || has_unknown_part(value) {
        return None;
    }
    let known = |word: &str| variable.accepted_words().any(|w| w.eq_ignore_ascii_case(word));
    match variable.reading {
        Reading::Level => {
            let digit = value.bytes().all(|b| b.is_ascii_digit());
            (!digit && !LEVELS.contains(&value)).then_some(value)
        }
        // NVIDIA/nccl src/debug.cc compares the whole value: `WARN,VERSION` is not a level.
        Reading::Word if variable.name == "NCCL_NETDEVS_POLICY" => {
            let max = value.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("MAX:"));
            (!max && !known(value)).then_some(value)
        }
        Reading::Word => (!known(value)).then_some(value),
        Reading::ExactWord => variable.accepted_words().all(|w| w != value).then_some(value),
        Reading::Words => {
            let words = value.strip_prefix('^').unwrap_or(value).split(',');
            words.filter(|w| !w.is_empty()).find(|w| !known(w))
        }
        Reading::Functions if !value.contains([':', ';']) => {
            // Releases before 2.14 had one word for both kinds of in-network reduction.
            let old = |word: &str| word.eq_ignore_ascii_case("collnet");
            let words = value.strip_prefix('^').unwrap_or(value).split(',');
            words.filter(|w| !w.is_empty()).find(|w| !known(w) && !old(w))
        }
        Reading::Range => (!is_range(value)).then_some(value),
        _ => None,
    }
}

/// `address/length` of either family.
fn is_range(value: &str) -> bool {
    let Some((address, length)) = value.split_once('/') else { return false };
    let Ok(length) = length.parse::<u8>() else { return false };
    match address.parse::<core::net::IpAddr>() {
        Ok(core::net::IpAddr::V4(_)) => length <= 32,
        Ok(core::net::IpAddr::V6(_)) => length <= 128,
        Err(_) => false,
    }
}

/// The number of a value if it is outside the variable's range. NCCL writes "choose yourself" as a negative number,
/// which is accepted where it is the default.
#[must_use]
pub fn number_outside_range(variable: &Variable, value: &str) -> Option<i64> {
    let (least, most) = variable.range;
    if !is_read_as_number(variable)
        || value.is_empty()
        || has_unknown_part(value)
        || starts_with_no_number(value)
    {
        return None;
    }
    let number = leading_number(value);
    let automatic = number < 0 && variable.default.is_none_or(|d| d == "auto");
    let out = least.is_some_and(|l| number < l) || most.is_some_and(|m| number > m);
    (out && !automatic).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nccl::find_variable;

    #[test]
    fn words() {
        for (name, value, unknown) in [
            ("NCCL_NET_GDR_LEVEL", "PIX", None),
            ("NCCL_NET_GDR_LEVEL", "2", None),
            ("NCCL_NET_GDR_LEVEL", "pix", Some("pix")),
            ("NCCL_P2P_LEVEL", "NODE", Some("NODE")),
            ("NCCL_P2P_LEVEL", "$(LEVEL)", None),
            ("NCCL_DEBUG", "info", None),
            ("NCCL_DEBUG", "ERROR", Some("ERROR")),
            ("NCCL_DEBUG", "WARN,VERSION", Some("WARN,VERSION")),
            ("NCCL_DEBUG", "", None),
            ("NCCL_DEBUG_SUBSYS", "^INIT,NET", None),
            ("NCCL_DEBUG_SUBSYS", "INIT,NETWORK", Some("NETWORK")),
            ("NCCL_SOCKET_FAMILY", "AF_INET6", None),
            ("NCCL_SOCKET_FAMILY", "af_inet6", Some("af_inet6")),
            ("NCCL_IB_ADDR_FAMILY", "IPv6", Some("IPv6")),
            ("NCCL_NETDEVS_POLICY", "max:2", None),
            ("NCCL_NETDEVS_POLICY", "some", Some("some")),
            ("NCCL_ALGO", "Ring,Tree", None),
            ("NCCL_ALGO", "^NVLS", None),
            ("NCCL_ALGO", "CollNet", None),
            ("NCCL_ALGO", "allreduce:tree;broadcast:ring", None),
            ("NCCL_ALGO", "Rings", Some("Rings")),
            ("NCCL_PROTO", "simple", None),
            ("NCCL_PROTO", "LL64", Some("LL64")),
            ("NCCL_IB_ADDR_RANGE", "10.0.0.0/16", None),
            ("NCCL_IB_ADDR_RANGE", "fd02::/16", None),
            ("NCCL_IB_ADDR_RANGE", "10.0.0.0", Some("10.0.0.0")),
            ("NCCL_IB_ADDR_RANGE", "10.0.0.0/64", Some("10.0.0.0/64")),
            ("NCCL_NET", "anything", None),
        ] {
            assert_eq!(unknown_word(find_variable(name).unwrap(), value), unknown, "{name}={value}");
        }
    }

    #[test]
    fn ranges() {
        for (name, value, out) in [
            ("NCCL_IB_TIMEOUT", "22", None),
            ("NCCL_IB_TIMEOUT", "100", Some(100)),
            ("NCCL_IB_TIMEOUT", "0", Some(0)),
            ("NCCL_IB_RETRY_CNT", "14", Some(14)),
            ("NCCL_IB_QPS_PER_CONNECTION", "129", Some(129)),
            ("NCCL_IB_SL", "16", Some(16)),
            ("NCCL_IB_SL", "-1", None),
            ("NCCL_IB_TC", "256", Some(256)),
            ("NCCL_IB_TC", "0xff", None),
            ("NCCL_IB_TIMEOUT", "-1", Some(-1)),
            ("NCCL_IB_TIMEOUT", "many", None),
            ("NCCL_IB_TIMEOUT", "$(N)", None),
            ("NCCL_IB_TIMEOUT", "", None),
            ("NCCL_DEBUG", "9", None),
        ] {
            assert_eq!(number_outside_range(find_variable(name).unwrap(), value), out, "{name}={value}");
        }
    }
}

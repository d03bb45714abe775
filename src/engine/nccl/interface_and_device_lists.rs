//! Lists of names as NCCL reads them, in `NCCL_IB_HCA` and `NCCL_SOCKET_IFNAME`: `^` (all but), then `=` (exact),
//! each only at the start of the whole value, then names separated by commas; without `=` a name is a prefix
//! (NVIDIA/nccl src/misc/utils.cc, `parseStringList` and `matchIfList`).

/// Names of a list that count. NCCL reads the first 32 names of `NCCL_IB_HCA` (`MAX_IB_DEVS`, src/transport/net_ib) and the
/// first 16 of `NCCL_SOCKET_IFNAME` (`MAX_IFS`, src/misc/socket.cc). Twice the larger number leaves room for other
/// versions, and bounds the work on a value of any length.
const MAX_NAMES: usize = 64;
/// Items of a list that are looked at, empty ones included: a value may have only commas, and is read for each device.
const MAX_ITEMS: usize = 1024;

/// A parsed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameList<'a> {
    /// Whether the names are excluded.
    pub excludes: bool,
    /// Whether names match exactly.
    pub exact: bool,
    items: &'a str,
}

/// A part of a value that never works as it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFault<'a> {
    /// `=^`: the mark in the wrong order is part of a name.
    Order,
    /// `==`: the second mark is part of a name.
    Twice,
    /// A mark before an item other than the first.
    Mark(&'a str),
    /// A space, which is part of a name.
    Space,
    /// Quotes, which are part of a name.
    Quotes,
    /// `^` or `=` without a name.
    Alone,
}

impl<'a> NameList<'a> {
    /// Parses a value.
    #[must_use]
    pub fn parse(value: &'a str) -> Self {
        let (excludes, rest) = value.strip_prefix('^').map_or((false, value), |rest| (true, rest));
        let (exact, items) = rest.strip_prefix('=').map_or((false, rest), |rest| (true, rest));
        Self { excludes, exact, items }
    }

    /// Whether no name is in the list. `NCCL_IB_HCA` then matches every device, so `^` excludes all.
    fn is_empty(self) -> bool {
        self.names().next().is_none()
    }

    /// Names, without empty ones: the first 64, in the first 1,024 items.
    pub fn names(self) -> impl Iterator<Item = &'a str> {
        self.items.split(',').take(MAX_ITEMS).filter(|item| !item.is_empty()).take(MAX_NAMES)
    }

    /// Names of devices, without port, rail and plane.
    pub fn device_names_without_ports(self) -> impl Iterator<Item = &'a str> {
        self.names().map(|item| item.split(':').next().unwrap_or(item))
    }

    /// Names of devices with their port, if the list names one. NCCL reads the port with `atoi`, so a text that is not a
    /// number means port 0, which no device has.
    pub fn device_and_port_items(self) -> impl Iterator<Item = (&'a str, Option<i64>)> {
        self.names().map(|item| {
            let mut parts = item.split(':');
            (parts.next().unwrap_or(item), parts.next().map(number_as_atoi_reads))
        })
    }

    /// Whether an item of [`Self::device_and_port_items`] means this port of a device.
    #[must_use]
    pub fn does_item_mean_port(self, (item, own): (&str, Option<i64>), device: &str, port: u32) -> bool {
        let same = if self.exact { device == item } else { device.starts_with(item) };
        same && own.is_none_or(|own| own == -1 || own == i64::from(port))
    }

    /// Whether the list chooses a port of a device.
    #[must_use]
    pub fn chooses_port(self, device: &str, port: u32) -> bool {
        let is = |item| self.does_item_mean_port(item, device, port);
        (self.is_empty() || self.device_and_port_items().any(is)) != self.excludes
    }

    /// Whether a name is in the list, without regard to marks.
    #[must_use]
    pub fn has_name_ignoring_exclusion(self, name: &str) -> bool {
        self.names().any(|item| if self.exact { name == item } else { name.starts_with(item) })
    }

    /// Whether one of some names, which are in order, is in the list, without regard to marks. Each item is looked up once:
    /// there may be a hundred thousand names.
    #[must_use]
    pub fn has_any_ignoring_exclusion(self, sorted: &[&str]) -> bool {
        // Names that begin with an item follow it directly in the order.
        let next = |item: &str| sorted.get(sorted.partition_point(|name| *name < item));
        self.names().any(|item| {
            next(item).is_some_and(|name| if self.exact { *name == item } else { name.starts_with(item) })
        })
    }

    /// Whether the list chooses a name.
    #[must_use]
    pub fn chooses_interface(self, name: &str) -> bool {
        self.items.is_empty() && !self.excludes || self.has_name_ignoring_exclusion(name) != self.excludes
    }

    /// Whether the list chooses a device, without regard to its port.
    #[must_use]
    pub fn chooses_device(self, name: &str) -> bool {
        let matches = |item: &str| if self.exact { name == item } else { name.starts_with(item) };
        (self.is_empty() || self.device_names_without_ports().any(matches)) != self.excludes
    }

    /// The first mistake.
    #[must_use]
    pub fn first_mistake(self) -> Option<ListFault<'a>> {
        if self.items.contains(['"', '\'']) {
            return Some(ListFault::Quotes);
        }
        if self.items.contains([' ', '\t', '\n']) {
            return Some(ListFault::Space);
        }
        let mut items = self.items.split(',');
        match items.next() {
            Some("") if self.excludes || self.exact => return Some(ListFault::Alone),
            Some(first) if first.starts_with('^') => {
                return Some(if self.exact { ListFault::Order } else { ListFault::Twice });
            }
            Some(first) if first.starts_with('=') => return Some(ListFault::Twice),
            _ => {}
        }
        items.find(|item| item.starts_with(['^', '='])).map(ListFault::Mark)
    }

    /// The value as it was probably meant: one mark at the start, no spaces, no quotes.
    #[must_use]
    pub fn corrected(self) -> String {
        let clean = |item: &'a str| item.trim_matches([' ', '\t', '\n', '^', '=', '"', '\'']);
        let names: Vec<&str> = self.items.split(',').map(clean).filter(|n| !n.is_empty()).collect();
        let excludes = self.excludes || self.items.contains('^');
        let exact = self.exact || self.items.contains('=');
        let marks = match (excludes, exact) {
            (true, true) => "^=",
            (true, false) => "^",
            (false, true) => "=",
            (false, false) => "",
        };
        format!("{marks}{}", names.join(","))
    }
}

/// C's `atoi`: spaces, a sign, decimal digits; 0 for none.
fn number_as_atoi_reads(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let digits = digits.strip_prefix('+').filter(|_| sign == 1).unwrap_or(digits);
    let digits = digits.chars().map_while(|c| c.to_digit(10));
    sign * digits.fold(0_i64, |n, d| n.saturating_mul(10).saturating_add(i64::from(d)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_the_list_is_part_of_the_choice() {
        for (value, port, chosen) in [
            ("mlx5_0", 2, true),
            ("mlx5_0:2", 2, true),
            ("mlx5_0:2", 1, false),
            ("mlx5:2", 1, false),
            ("=mlx5_0:1,mlx5_0:2", 2, true),
            ("^mlx5_0:2", 1, true),
            ("^mlx5_0:2", 2, false),
            ("mlx5_0:-1", 2, true),
            ("mlx5_0:x", 1, false),
            ("mlx5_0:2:RAIL:PLANE", 2, true),
            ("", 1, true),
            ("^", 1, false),
        ] {
            assert_eq!(NameList::parse(value).chooses_port("mlx5_0", port), chosen, "{value} port {port}");
        }
    }

    #[test]
    fn marks_count_only_at_the_start() {
        for (value, chosen, not) in [
            ("mlx5", "mlx5_3", "irdma0"),
            ("mlx5_1", "mlx5_10", "mlx5_2"),
            ("=mlx5_1,mlx5_2", "mlx5_2", "mlx5_10"),
            ("^mlx5_1", "mlx5_2", "mlx5_1"),
            ("^=mlx5_1", "mlx5_10", "mlx5_1"),
            ("^docker,^lo", "lo", "docker0"),
            ("^docker,lo", "eth0", "lo"),
        ] {
            let list = NameList::parse(value);
            assert!(list.chooses_interface(chosen), "{value} chooses {chosen}");
            assert!(!list.chooses_interface(not), "{value} does not choose {not}");
        }
        assert!(NameList::parse("").chooses_interface("any"));
    }

    /// A hostile value costs no more than a list that NCCL can read.
    #[test]
    fn names_beyond_the_limit_do_not_count() {
        let value = format!("{}eth0", "a,".repeat(100_000));
        let list = NameList::parse(&value);
        assert_eq!(list.names().count(), MAX_NAMES);
        assert!(!list.chooses_interface("eth0"));
        assert!(list.chooses_interface("a0"));
    }

    /// Empty items cost as much as names.
    #[test]
    fn names_behind_many_empty_items_do_not_count() {
        for (commas, counts) in [(MAX_ITEMS - 1, true), (MAX_ITEMS, false), (64_000, false)] {
            let value = format!("={}mlx5_0", ",".repeat(commas));
            let list = NameList::parse(&value);
            assert_eq!(list.names().count(), usize::from(counts), "{commas} commas");
            assert_eq!(list.has_name_ignoring_exclusion("mlx5_0"), counts, "{commas} commas");
            assert_eq!(list.has_any_ignoring_exclusion(&["mlx5_0"]), counts, "{commas} commas");
            // A list without a name chooses each port.
            assert_eq!(list.chooses_port("mlx5_1", 1), !counts, "{commas} commas");
        }
    }

    #[test]
    fn one_of_many_names() {
        let names = ["eth0", "lo", "net1", "net10", "net2"];
        for (value, has) in [
            ("net", true),
            ("net3,net10", true),
            ("=net,eth", false),
            ("=x,net2", true),
            ("=net2", true),
            ("zz,a", false),
            ("e", true),
            ("eth00,eth0:1", false),
            ("=,", false),
            ("", false),
        ] {
            let list = NameList::parse(value);
            assert_eq!(list.has_any_ignoring_exclusion(&names), has, "{value}");
            assert_eq!(names.iter().any(|name| list.has_name_ignoring_exclusion(name)), has, "{value}");
        }
        assert!(!NameList::parse("eth0").has_any_ignoring_exclusion(&[]));
    }

    #[test]
    fn faults() {
        for (value, fault, corrected) in [
            ("=^mlx5_1", Some(ListFault::Order), "^=mlx5_1"),
            ("==mlx5_0,mlx5_1", Some(ListFault::Twice), "=mlx5_0,mlx5_1"),
            ("=mlx5_1,=mlx5_2", Some(ListFault::Mark("=mlx5_2")), "=mlx5_1,mlx5_2"),
            ("^docker,^lo", Some(ListFault::Mark("^lo")), "^docker,lo"),
            ("mlx5_0, mlx5_1", Some(ListFault::Space), "mlx5_0,mlx5_1"),
            ("\"eth0\"", Some(ListFault::Quotes), "eth0"),
            ("^", Some(ListFault::Alone), "^"),
            ("^lo,docker", None, "^lo,docker"),
            ("=mlx5_0:1,mlx5_1:1", None, "=mlx5_0:1,mlx5_1:1"),
            ("", None, ""),
        ] {
            let list = NameList::parse(value);
            assert_eq!((list.first_mistake(), list.corrected().as_str()), (fault, corrected), "{value}");
        }
    }
}

//! Parsers of text that anyone may write: the networks annotation, quantities, shell text.

use crate::support::generated_cases;
use crate::support::generated_documents::{Document, Documents};
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::multus::parse_networks_annotation::{
    RequestedAttachment, is_dns_label, is_dns_subdomain, is_interface_name,
};
use fabric_admission::multus::parse_within_limit;
use fabric_admission::pod::shell::{read_shell_text, read_words_without_shell, sets_variable};
use fabric_admission::pod::{Bytes, Quantity};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use serde_json::Value;

/// Adds the trials.
pub(crate) fn add(suite: &mut Suite) {
    suite.add("text_parsers::networks_are_appended", || {
        check(
            "text_parsers::networks_are_appended",
            1500,
            (networks(), vec(selection(), 0..4)),
            |(non_empty, added)| appends(&non_empty, &added),
        )
    });
    suite.add("text_parsers::quantities_equal_their_sum", || {
        check("text_parsers::quantities_equal_their_sum", 4000, quantity(), |(text, exact)| {
            agrees(&text, exact)
        })
    });
    suite.add("text_parsers::quantities_as_the_api_server_reads_them", || {
        let wrong = QUANTITIES
            .iter()
            .filter(|(text, units)| Quantity::parse(text).ok().map(Quantity::units_rounded_up) != *units);
        let wrong: Vec<_> =
            wrong.map(|(text, _)| (text, Quantity::parse(text).map(Quantity::units_rounded_up))).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:?}").into()) }
    });
    suite.add("text_parsers::any_text_is_a_quantity_or_none", || {
        check(
            "text_parsers::any_text_is_a_quantity_or_none",
            4000,
            words("0123456789.-+eEinumkMGTPi$ _{é"),
            |text| {
                let Ok(quantity) = Quantity::parse(&text) else { return Ok(()) };
                let whole = Quantity::from_units(quantity.units_rounded_up());
                // Units are rounded up, by less than one.
                let up = whole >= quantity
                    && (quantity.units_rounded_up() == i64::MIN
                        || Quantity::from_units(quantity.units_rounded_up() - 1) < quantity);
                if up || quantity.units_rounded_up() == i64::MAX {
                    Ok(())
                } else {
                    Err(format!("{quantity:?} to {whole:?}"))
                }
            },
        )
    });
    suite.add("text_parsers::sizes_read_back", || {
        check("text_parsers::sizes_read_back", 2000, any::<i64>(), |size| {
            let read = Quantity::parse(&Bytes(size).to_string()).map(Quantity::units_rounded_up);
            if read == Ok(size) { Ok(()) } else { Err(format!("{} reads as {read:?}", Bytes(size))) }
        })
    });
    suite.add("text_parsers::shell_settings", || {
        let pieces =
            "N M =V ' \" ` $ ${ $( } ) \\ \n # ; & | ( < << <<E E {N:=v} -x env export unset os.environ[ é";
        let pieces: Vec<&str> = pieces.split(' ').chain([" "]).collect();
        let texts = vec(select(pieces), 0..24).prop_map(|parts| parts.concat());
        check("text_parsers::shell_settings", 6000, texts, |text| {
            // An assignment on a line of its own is seen behind anything that is closed.
            if !text.contains(['\'', '"', '`', '$', '\\', '<', '#']) {
                let after = format!("{text}\nexport LAST_ONE=1");
                if !read_shell_text(&after, |_| true).settings.iter().any(|s| s.name == "LAST_ONE") {
                    return Err("the last line is missed".to_owned());
                }
            }
            let words: Vec<&str> = text.split('\n').collect();
            let beyond = read_words_without_shell(&words).settings.iter().any(|s| s.at >= words.len());
            if beyond { Err("an element that is not there".to_owned()) } else { stands_in(&text) }
        })
    });
    suite.add("text_parsers::shell_text", || {
        let texts = words("NCL_IB=${}:-x \n\"'é;&");
        check(
            "text_parsers::shell_text",
            3000,
            (texts.clone(), texts, select(NAMES)),
            |(before, after, name)| {
                // Whatever stands around it, an assignment is seen; of a name that no shell assigns to, none is.
                let assignable = name.bytes().all(is_name_byte);
                if sets_variable(&format!("{before}\nexport {name}={after}"), name) != assignable {
                    return Err("an assignment is missed, or one is seen that is none".to_owned());
                }
                for text in [
                    format!("{before}{after}"),
                    format!("{before}{{{name}{after}"),
                    format!("{name}={after}"),
                ] {
                    if sets_variable(&text, name) != (assignable && by_search(&text, name)) {
                        return Err(format!("{text:?}: not as a search for the name has it"));
                    }
                }
                Ok(())
            },
        )
    });
}

/// Whatever the text, what is found stands in it, in front to back.
fn stands_in(text: &str) -> Result<(), String> {
    let found = read_shell_text(text, |_| true);
    let mut last = 0;
    for setting in &found.settings {
        let here = text.get(setting.at..).ok_or_else(|| format!("{setting:?} stands behind the end"))?;
        if !here.contains(setting.name) || setting.name.is_empty() {
            return Err(format!("{setting:?} does not stand there"));
        }
        last = last.max(setting.at);
    }
    if last > text.len() { Err("behind the end".to_owned()) } else { Ok(()) }
}

const NAMES: &[&str] = &["N", "NCCL_IB", "NCCL_IB_HCA", "_", "é"];

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The same, name by name: wherever it stands, what is before and behind it.
fn by_search(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let whole = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let otherwise = [":-", ":=", "-"].iter().any(|mark| after.starts_with(mark));
        whole && (after.starts_with('=') || before.ends_with('{') && otherwise)
    })
}

/// Text of some characters.
fn words(alphabet: &str) -> impl Strategy<Value = String> + Clone {
    let characters: Vec<char> = alphabet.chars().collect();
    prop_oneof![
        4 => vec(select(characters), 0..24).prop_map(String::from_iter),
        1 => vec(any::<char>(), 0..12).prop_map(String::from_iter),
    ]
}

/// Annotations of both forms, right and broken.
fn networks() -> impl Strategy<Value = String> {
    let made = Documents(|dice| generated_cases::networks(dice).into());
    let made = made.prop_map(|Document(value)| value.as_str().unwrap_or_default().to_owned());
    prop_oneof![2 => made, 1 => words("[]{}\",@/: \nabname1-."), 1 => Just(String::new())]
}

fn selection() -> impl Strategy<Value = RequestedAttachment<'static>> {
    let name = select(vec!["a", "rdma-net", "9"]);
    let namespace = select(vec![None, Some("default"), Some("team-1")]);
    let interface = select(vec![None, Some("rail0"), Some("x")]);
    (namespace, name, interface).prop_map(|(namespace, name, interface)| RequestedAttachment {
        namespace: namespace.map(Into::into),
        name: name.into(),
        interface: interface.map(Into::into),
        requests: None,
    })
}

/// What is appended comes last; what was there stays, word for word.
fn appends(text: &str, added: &[RequestedAttachment<'static>]) -> Result<(), String> {
    let Ok(networks) = parse_within_limit(text) else { return Ok(()) };
    for item in &networks.items {
        let valid = is_dns_subdomain(&item.name)
            && item.namespace.as_deref().is_none_or(is_dns_label)
            && item.interface.as_deref().is_none_or(is_interface_name);
        if !valid {
            return Err(format!("{item:?} is taken for a network"));
        }
    }
    let merged = networks.annotation_with_added(added);
    let again = parse_within_limit(&merged).map_err(|error| format!("{merged:?}: {error}"))?;
    let expected: Vec<_> = networks.items.iter().chain(added).collect();
    if !again.items.iter().eq(expected.iter().copied()) {
        return Err(format!("{merged:?} holds {:?}, not {expected:?}", again.items));
    }
    let kept = match serde_json::from_str::<Vec<Value>>(text) {
        // The list without its bracket.
        Ok(_) => text.trim_end().strip_suffix(']').is_some_and(|head| merged.starts_with(head.trim_end())),
        Err(_) => merged.starts_with(text.trim_end()),
    };
    if kept { Ok(()) } else { Err(format!("{text:?} became {merged:?}")) }
}

/// A quantity and its exact value as a fraction.
fn quantity() -> impl Strategy<Value = (String, (i128, i128))> {
    let scales = vec![
        ("", 1, 1),
        ("Ki", 1 << 10, 1),
        ("Mi", 1 << 20, 1),
        ("Gi", 1 << 30, 1),
        ("Ti", 1 << 40, 1),
        ("n", 1, 1_000_000_000),
        ("u", 1, 1_000_000),
        ("m", 1, 1000),
        ("k", 1000, 1),
        ("M", 1_000_000, 1),
        ("G", 1_000_000_000, 1),
        ("e3", 1000, 1),
        ("E-2", 1, 100),
        ("e+0", 1, 1),
    ];
    let number = prop_oneof![0..20_u32, 0..1_000_000_u32];
    let fraction = prop_oneof![
        Just(None),
        (0..1000_u32, 3..5_usize).prop_map(Some),
        (0..10_u32, 1..2_usize).prop_map(Some)
    ];
    (select(vec!["", "-", "+"]), 0..3_usize, number, fraction, select(scales)).prop_map(
        |(sign, zeros, whole, fraction, (suffix, times, by))| {
            let mut text = format!("{sign}{}{whole}", "0".repeat(zeros));
            let mut exact = (i128::from(whole), 1_i128);
            if let Some((digits, width)) = fraction {
                text.push_str(&format!(".{digits:0width$}"));
                let power = 10_i128.pow(u32::try_from(width).unwrap());
                exact = (exact.0 * power + i128::from(digits), power);
            }
            text.push_str(suffix);
            let sign = if sign == "-" { -1 } else { 1 };
            (text, (sign * exact.0 * times, exact.1 * by))
        },
    )
}

fn agrees(text: &str, (over, under): (i128, i128)) -> Result<(), String> {
    let parsed = Quantity::parse(text).map_err(|error| error.to_string())?;
    // The API server keeps nanos, rounded away from zero.
    let nanos = over * 1_000_000_000;
    let nanos = nanos / under + if nanos % under == 0 { 0 } else { nanos.signum() };
    // Negative quantities are refused wherever they matter: of them the sign is enough.
    let units = if nanos < 0 {
        i128::from(parsed.units_rounded_up())
    } else {
        nanos / 1_000_000_000 + i128::from(nanos % 1_000_000_000 != 0)
    };
    let expected = (units, nanos % 1_000_000_000 == 0, nanos < 0);
    let found = (i128::from(parsed.units_rounded_up()), parsed.is_integer(), parsed.is_negative());
    if found == expected { Ok(()) } else { Err(format!("{text}: {found:?}, not {expected:?}")) }
}

/// Texts and their whole units, rounded up, as k8s.io/apimachinery's `resource.ParseQuantity` of Kubernetes 1.36
/// has them. Left out: a number without digits (`m`, `.`, `-`), which it reads as 0; values beyond 64 bits, which
/// it wraps around; negative fractions, which it rounds down.
const QUANTITIES: &[(&str, Option<i64>)] = &[
    ("0", Some(0)),
    ("00", Some(0)),
    ("8", Some(8)),
    ("+8", Some(8)),
    ("-8", Some(-8)),
    ("08", Some(8)),
    ("8.0", Some(8)),
    ("8.", Some(8)),
    ("2.50", Some(3)),
    (".5", Some(1)),
    ("100m", Some(1)),
    ("1500m", Some(2)),
    ("1n", Some(1)),
    ("999999999n", Some(1)),
    ("1000000001n", Some(2)),
    ("0.0000000001", Some(1)),
    ("1u", Some(1)),
    ("2k", Some(2_000)),
    ("3M", Some(3_000_000)),
    ("1G", Some(1_000_000_000)),
    ("1T", Some(1_000_000_000_000)),
    ("1P", Some(1_000_000_000_000_000)),
    ("9E", Some(9_000_000_000_000_000_000)),
    ("64Gi", Some(68_719_476_736)),
    ("1.5Gi", Some(1_610_612_736)),
    ("0.1Ki", Some(103)),
    ("1Ki", Some(1_024)),
    ("7Ei", Some(8_070_450_532_247_928_832)),
    ("0.5Mi", Some(524_288)),
    ("512Mi", Some(536_870_912)),
    ("2Ti", Some(2_199_023_255_552)),
    ("1Pi", Some(1_125_899_906_842_624)),
    ("1e3", Some(1_000)),
    ("1E3", Some(1_000)),
    ("1e-3", Some(1)),
    ("5e0", Some(5)),
    ("1.5e1", Some(15)),
    ("1e+2", Some(100)),
    ("12345678901234567", Some(12_345_678_901_234_567)),
    ("9223372036854775807", Some(9_223_372_036_854_775_807)),
    ("9223372036854775807000m", Some(9_223_372_036_854_775_807)),
    ("0e99", Some(0)),
    ("", None),
    ("8 ", None),
    (" 8", None),
    ("8g", None),
    ("8GiB", None),
    ("8Gi ", None),
    ("1.2.3", None),
    ("0x8", None),
    ("true", None),
    ("1e", None),
    ("1e1.5", None),
    ("1e3Gi", None),
    ("1_000", None),
    ("٣", None),
    ("8i", None),
    ("8mi", None),
    ("8ki", None),
    ("8KI", None),
    ("1K", None),
    ("8Zi", None),
    ("--8", None),
    ("+-8", None),
    ("8-", None),
    ("NaN", None),
    ("inf", None),
    ("1,5", None),
    ("8e3m", None),
    ("$GPUS", None),
    ("{…}", None),
];

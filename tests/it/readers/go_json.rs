//! The networks annotation, read as Go's decoder reads it: the table in tests/recorded/go-json is of a real one.

use crate::support::suite::Suite;
use crate::support::{read, root};
use fabric_admission::multus::parse_within_limit;
use serde_json::Value;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("go_json::selections_of_networks", || Ok(selections()?));
}

fn selections() -> Result<(), String> {
    let recorded = read(&root().join("tests/recorded/go-json/selections.jsonl"))?;
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in recorded.lines() {
        let line: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let text = line["text"].as_str().ok_or("no text")?;
        let list = format!("[{text}]");
        let ours = parse_within_limit(&list);
        let of = |key: &str| line["element"][key].as_str().unwrap_or_default();
        // Multus refuses these later: no name, and an empty address.
        let ips = line["element"]["ips"].as_array().is_some_and(|ips| ips.iter().any(|ip| ip == ""));
        let refused = line["element"].is_null() || of("name").is_empty() || ips;
        // We also refuse half a surrogate pair in a key. Go replaces it; no user writes it.
        let expected = if refused || text.contains(r#","\ud800""#) {
            None
        } else {
            let interface = if of("interface").is_empty() { of("interfaceRequest") } else { of("interface") };
            Some((
                of("name").to_owned(),
                of("namespace").to_owned(),
                interface.to_owned(),
                of("deviceID").to_owned(),
            ))
        };
        let ours = ours.ok().and_then(|networks| {
            let item = networks.items.first()?;
            let text = |t: &Option<std::borrow::Cow<'_, str>>| t.as_deref().unwrap_or_default().to_owned();
            let device = item.requests.as_ref().map_or(String::new(), |r| text(&r.device));
            Some((item.name.to_string(), text(&item.namespace), text(&item.interface), device))
        });
        compared += usize::from(expected.is_some());
        if ours != expected {
            wrong.push(format!("{text}: Go {expected:?}, we {ours:?}"));
        }
    }
    if compared < 100 {
        return Err(format!("only {compared} elements to compare"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

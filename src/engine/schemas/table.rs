//! The tables. `crds.txt` is generated from the CustomResourceDefinitions of the operators; `plugins.txt` is written by
//! hand from the Go types of CNI plugins and device plugins. Both have one form:
//!
//! ```text
//! GROUP KIND VERSION,VERSION
//!  FIELD TYPE CONSTRAINT…
//!   FIELD TYPE
//! ```
//!
//! The fields of a mapping are indented by one more blank than the mapping. `*` stands for the items of a list and for
//! the values of a mapping with arbitrary keys.

use super::pattern::Pattern;
use std::collections::{BTreeMap, HashMap};
use std::iter::Peekable;
use std::sync::LazyLock;

/// The fields of a kind of object, or of a plugin's configuration.
#[derive(Debug)]
pub struct Schema {
    /// Versions that the API server has of the kind; empty for plugins.
    pub versions: Vec<&'static str>,
    /// The whole object; without fields where only the versions are kept.
    pub whole: Field,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Anything.
    Any,
    /// A text.
    Text,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// A whole number or a text.
    WholeOrText,
    /// A list of like items.
    List,
    /// A mapping with arbitrary keys and like values.
    Map,
    /// A mapping with known keys.
    Object,
}

impl Takes {
    fn parse(word: &str) -> Self {
        match word {
            "text" => Self::Text,
            "whole" => Self::Whole,
            "number" => Self::Number,
            "truth" => Self::Truth,
            "whole|text" => Self::WholeOrText,
            "list" => Self::List,
            "map" => Self::Map,
            "object" => Self::Object,
            _ => Self::Any,
        }
    }
}

/// What a field accepts.
#[derive(Debug)]
pub struct Field {
    /// The type of its value.
    pub takes: Takes,
    /// The least number.
    pub least: Option<i64>,
    /// The greatest number.
    pub most: Option<i64>,
    /// The only texts; empty where any text is accepted.
    pub words: Vec<&'static str>,
    /// Whether these texts may have any case.
    pub any_case: bool,
    /// Whether unknown keys are kept.
    pub open: bool,
    /// Whether the mapping around it must have it.
    pub required: bool,
    /// The form of its texts.
    pub pattern: Option<Pattern>,
    fields: BTreeMap<&'static str, Field>,
    item: Option<Box<Field>>,
}

/// Lines of a table, each with its indentation.
type Lines<'l> = Peekable<&'l mut dyn Iterator<Item = (usize, &'static str)>>;

impl Field {
    fn new(takes: Takes) -> Self {
        Self {
            takes,
            least: None,
            most: None,
            words: Vec::new(),
            any_case: false,
            open: false,
            required: false,
            pattern: None,
            fields: BTreeMap::new(),
            item: None,
        }
    }

    fn parse(mut parts: std::str::Split<'static, char>) -> Self {
        let mut field = Self::new(Takes::parse(parts.next().unwrap_or_default()));
        for part in parts {
            match part.split_once('=') {
                Some((">", number)) => field.least = number.parse().ok(),
                Some(("<", number)) => field.most = number.parse().ok(),
                Some(("words", words)) => field.words = words.split('|').collect(),
                Some(("pattern", pattern)) => field.pattern = Pattern::parse(pattern),
                _ => {
                    field.any_case |= part == "any-case";
                    field.open |= part == "open";
                    field.required |= part == "required";
                }
            }
        }
        field
    }

    fn add_fields_of_lines_below(&mut self, lines: &mut Lines<'_>, depth: usize) {
        while let Some((_, line)) = lines.next_if(|(at, _)| *at == depth) {
            let mut parts = line.split(' ');
            let name = parts.next().unwrap_or_default();
            let mut field = Self::parse(parts);
            field.add_fields_of_lines_below(lines, depth + 1);
            if name == "*" {
                self.item = Some(Box::new(field));
            } else {
                self.fields.insert(name, field);
            }
        }
    }

    /// A field of a mapping.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&Self> {
        self.fields.get(key)
    }

    /// The known keys of a mapping, in order; none where only its type is known.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.keys().copied()
    }

    /// What the items of a list, or the values of a mapping with arbitrary keys, accept.
    #[must_use]
    pub fn item(&self) -> Option<&Self> {
        self.item.as_deref()
    }

    /// Collects the mappings that have each key, those of lists aside.
    fn collect_mappings_by_key(
        &self,
        (group, kind): Name,
        at: &str,
        found: &mut HashMap<String, Vec<Place>>,
    ) {
        for (key, field) in &self.fields {
            let place = Place { group, kind, at: at.to_owned(), key };
            found.entry(key.to_ascii_lowercase()).or_default().push(place);
            field.collect_mappings_by_key((group, kind), &format!("{at}/{key}"), found);
        }
    }
}

/// Group and kind.
type Name = (&'static str, &'static str);

fn parse(text: &'static str) -> Vec<(Name, Schema)> {
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let bare = line.trim_start_matches(' ');
        (line.len() - bare.len(), bare)
    });
    let lines: &mut dyn Iterator<Item = (usize, &'static str)> = &mut lines;
    let mut lines = lines.peekable();
    let mut found = Vec::new();
    while let Some((_, head)) = lines.next() {
        let mut parts = head.split(' ');
        let name = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let versions = parts.next().map(|v| v.split(',').collect()).unwrap_or_default();
        let mut whole = Field::new(Takes::Object);
        whole.add_fields_of_lines_below(&mut lines, 1);
        found.push((name, Schema { versions, whole }));
    }
    found
}

/// Where a key is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// API group of the kind.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// JSON pointer of the mapping.
    pub at: String,
    /// The key.
    pub key: &'static str,
}

/// Schemas by group, then by kind.
type ByName = HashMap<&'static str, HashMap<&'static str, Schema>>;

fn by_name(all: Vec<(Name, Schema)>) -> ByName {
    let mut found = ByName::new();
    for ((group, kind), schema) in all {
        found.entry(group).or_default().insert(kind, schema);
    }
    found
}

struct Crds {
    by_name: ByName,
    /// By key in lower case; the kinds in the order of the table.
    places: HashMap<String, Vec<Place>>,
}

static CRDS: LazyLock<Crds> = LazyLock::new(|| {
    let all = parse(include_str!("crds.txt"));
    let mut places = HashMap::new();
    for (name, schema) in &all {
        schema.whole.collect_mappings_by_key(*name, "", &mut places);
    }
    Crds { by_name: by_name(all), places }
});

static PLUGINS: LazyLock<ByName> = LazyLock::new(|| by_name(parse(include_str!("plugins.txt"))));

/// The CRD of a kind.
#[must_use]
pub fn schema_of_crd(group: &str, kind: &str) -> Option<&'static Schema> {
    CRDS.by_name.get(group)?.get(kind)
}

/// Where CRDs have a key, whatever its case.
#[must_use]
pub fn places_with_key(key: &str) -> &'static [Place] {
    CRDS.places.get(&key.to_ascii_lowercase()).map(Vec::as_slice).unwrap_or_default()
}

/// The configuration of a plugin: `cni` and its type, or `device-plugin` and its name.
#[must_use]
pub fn fields_of_plugin(family: &str, name: &str) -> Option<&'static Field> {
    PLUGINS.get(family)?.get(name).map(|schema| &schema.whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_fields() {
        let text = "# a comment\ng K v1,v2\n spec object\n  n whole >=0 <=99\n  w text words=|a|b any-case\n  l list\n   * object open\n    k truth\n  m map\n   * text\n\nh L v1\n";
        let parsed = parse(text);
        assert_eq!(parsed[0].0, ("g", "K"));
        assert_eq!(parsed[0].1.versions, ["v1", "v2"]);
        let spec = parsed[0].1.whole.field("spec").unwrap();
        let n = spec.field("n").unwrap();
        assert_eq!((n.takes, n.least, n.most), (Takes::Whole, Some(0), Some(99)));
        let w = spec.field("w").unwrap();
        assert_eq!((w.words.as_slice(), w.any_case), (&["", "a", "b"][..], true));
        let item = spec.field("l").unwrap().item().unwrap();
        assert!(item.open && item.field("k").unwrap().takes == Takes::Truth);
        assert_eq!(spec.field("m").unwrap().item().unwrap().takes, Takes::Text);
        assert_eq!(parsed[1].0, ("h", "L"));
    }

    #[test]
    fn every_line_is_read() {
        for text in [include_str!("crds.txt"), include_str!("plugins.txt")] {
            let mut depth = 0;
            for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
                let bare = line.trim_start_matches(' ');
                let at = line.len() - bare.len();
                assert!(at <= depth + 1, "{line}");
                depth = at;
                if at == 0 {
                    continue;
                }
                let mut parts = bare.split(' ').skip(1);
                let word = parts.next().unwrap();
                assert!(Takes::parse(word) != Takes::Any || word == "any", "{line}");
                for part in parts {
                    let known = match part.split_once('=') {
                        Some((">" | "<", number)) => number.parse::<i64>().is_ok(),
                        Some(("words", _)) => true,
                        Some(("pattern", pattern)) => Pattern::parse(pattern).is_some(),
                        _ => matches!(part, "any-case" | "open" | "required"),
                    };
                    assert!(known, "{line}: {part}");
                }
            }
        }
    }

    #[test]
    fn kinds_and_plugins_are_found() {
        let spec =
            schema_of_crd("sriovnetwork.openshift.io", "SriovNetworkNodePolicy").unwrap().whole.field("spec");
        assert_eq!(spec.unwrap().field("deviceType").unwrap().words, ["netdevice", "vfio-pci"]);
        assert!(schema_of_crd("", "Pod").is_none());
        assert_eq!(fields_of_plugin("cni", "sriov").unwrap().field("vlan").unwrap().most, Some(4094));
        let found: Vec<_> = places_with_key("PFNAMES").iter().map(|p| (p.kind, p.at.as_str())).collect();
        assert_eq!(found, [("SriovNetworkNodePolicy", "/spec/nicSelector")]);
    }
}

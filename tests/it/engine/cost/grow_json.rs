//! Growth of a JSON document at one place: a list, a map or a text gets longer, JSON inside of texts too.

use serde_json::{Map, Value, json};

/// A step towards a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
    /// Into the JSON that a text holds.
    Inside,
}

/// How a value grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Growth {
    /// The last entry of a list again and again.
    Same,
    /// The same with names that differ.
    Named,
    /// The same with texts that all differ.
    Distinct,
    /// The shortest entries of a list's type: most entries per byte.
    Hollow,
    /// `null` again and again.
    Nulls,
    /// Keys of a map that differ, with the value of another key.
    Keys,
    /// The same keys with what differs before them.
    Prefixed,
    /// Short keys without a value: most keys per byte.
    NullKeys,
    /// A text again and again, with this between.
    Joined(&'static str),
    /// The same with numbers behind it, so that the parts differ.
    Numbered(&'static str),
    /// This instead of a text, again and again.
    Filled(&'static str),
    /// This around a text, again and again: what opens and what closes.
    Nested(&'static str, &'static str),
}

/// How lists grow.
const LISTS: &[Growth] = &[Growth::Same, Growth::Named, Growth::Distinct, Growth::Hollow, Growth::Nulls];
/// How maps grow.
const MAPS: &[Growth] = &[Growth::Keys, Growth::NullKeys, Growth::Prefixed];
/// How a map grows if its last value is not a text.
const MAPS_OF_OTHERS: &[Growth] = &[Growth::Keys, Growth::NullKeys];
/// How texts grow. What stands between and instead are the separators and brackets of what we read: lists of networks and
/// devices, shell words, references to variables, JSON, paths, host lists.
const TEXTS: &[Growth] = &[
    Growth::Numbered(","),
    Growth::Numbered(" "),
    Growth::Numbered("\n"),
    Growth::Joined(","),
    Growth::Joined(""),
    Growth::Joined(" "),
    Growth::Joined("\n"),
    Growth::Numbered(";"),
    Growth::Numbered("/"),
    Growth::Numbered(":"),
    Growth::Numbered("="),
    Growth::Numbered("-"),
    Growth::Filled("a"),
    Growth::Filled("0"),
    Growth::Filled(","),
    Growth::Filled(" "),
    Growth::Filled("\n"),
    Growth::Filled("\""),
    Growth::Filled("'"),
    Growth::Filled("\\"),
    Growth::Filled("`"),
    Growth::Filled("$("),
    Growth::Filled("${"),
    Growth::Filled("$"),
    Growth::Filled("{"),
    Growth::Filled("["),
    Growth::Filled("{},"),
    Growth::Filled("é"),
    Growth::Filled("\u{1}"),
    Growth::Filled("\u{212a}"),
    Growth::Filled("a=b "),
    Growth::Filled("export A=b;"),
    Growth::Filled("A= "),
    Growth::Filled("<<A\n"),
    Growth::Filled("; #"),
    Growth::Filled("/"),
    Growth::Filled("../"),
    Growth::Filled("@"),
    Growth::Filled("^"),
    Growth::Filled("-"),
    Growth::Filled("."),
    Growth::Filled(":"),
    Growth::Filled("#"),
    Growth::Filled("*"),
    Growth::Nested("$(", ")"),
    Growth::Nested("${A:-", "}"),
    Growth::Nested("[", "]"),
    Growth::Nested("{\"a\":", "}"),
];

/// A place and what grows there.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) path: Vec<Step>,
    pub(super) growth: Growth,
}

impl Shape {
    /// The place without indexes, and the growth: shapes that are alike have the same label.
    pub(super) fn label(&self) -> String {
        let mut label = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) => label.push_str(&format!("/{key}")),
                Step::Index(_) => label.push_str("/*"),
                Step::Inside => label.push('!'),
            }
        }
        format!("{label} {:?}", self.growth)
    }

    pub(super) fn is_text(&self) -> bool {
        !LISTS.contains(&self.growth) && !MAPS.contains(&self.growth)
    }
}

/// Every shape of an object.
pub(super) fn shapes(object: &Value) -> Vec<Shape> {
    let mut out = Vec::new();
    walk(object, &mut Vec::new(), &mut out);
    out
}

fn walk(value: &Value, path: &mut Vec<Step>, out: &mut Vec<Shape>) {
    let growths = match value {
        Value::Array(_) => LISTS,
        Value::Object(map) if map.values().next_back().is_some_and(Value::is_string) => MAPS,
        // A value such as the template of a pod counts wherever it is.
        Value::Object(_) => MAPS_OF_OTHERS,
        Value::String(_) => TEXTS,
        _ => return,
    };
    // The sender cannot choose the kind of an object.
    if !matches!(path.as_slice(), [Step::Key(key)] if key == "kind" || key == "apiVersion") {
        out.extend(growths.iter().map(|growth| Shape { path: path.clone(), growth: *growth }));
    }
    let mut visit = |step: Step, child: &Value| {
        path.push(step);
        walk(child, path, out);
        path.pop();
    };
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| visit(Step::Index(i), v)),
        Value::Object(map) => map.iter().for_each(|(k, v)| visit(Step::Key(k.clone()), v)),
        Value::String(text) => {
            if let Some(inside) = embedded(text) {
                visit(Step::Inside, &inside);
            }
        }
        _ => {}
    }
}

fn embedded(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok())?
}

/// The document with one place grown by about so many bytes.
pub(super) fn grown(object: &Value, shape: &Shape, bytes: usize) -> Value {
    let mut object = object.clone();
    change(&mut object, &shape.path, &mut |value| *value = grow(value, shape.growth, bytes));
    object
}

fn change(value: &mut Value, path: &[Step], with: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = path.split_first() else { return with(value) };
    match (step, value) {
        (Step::Key(key), Value::Object(map)) => {
            if let Some(child) = map.get_mut(key) {
                change(child, rest, with);
            }
        }
        (Step::Index(index), Value::Array(list)) => {
            if let Some(child) = list.get_mut(*index) {
                change(child, rest, with);
            }
        }
        (Step::Inside, Value::String(text)) => {
            if let Some(mut inside) = embedded(text) {
                change(&mut inside, rest, with);
                *text = inside.to_string();
            }
        }
        _ => {}
    }
}

fn grow(value: &Value, growth: Growth, bytes: usize) -> Value {
    match value {
        Value::Array(list) => grow_list(list, growth, bytes).into(),
        Value::Object(map) => grow_map(map, growth, bytes).into(),
        Value::String(text) => grow_text(text, growth, bytes).into(),
        other => other.clone(),
    }
}

fn grow_list(list: &[Value], growth: Growth, bytes: usize) -> Vec<Value> {
    let last = list.last().cloned().unwrap_or_else(|| json!({}));
    let hollow = match last {
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
        Value::String(_) => json!(""),
        Value::Number(_) => json!(0),
        _ => Value::Null,
    };
    let make = |i: usize| match growth {
        Growth::Named => renamed(&last, i, false),
        Growth::Distinct => renamed(&last, i, true),
        Growth::Hollow => hollow.clone(),
        Growth::Nulls => Value::Null,
        _ => last.clone(),
    };
    let each = make(1_000).to_string().len() + 1;
    list.iter().cloned().chain((0..bytes / each).map(make)).collect()
}

/// Keys by which entries of lists are known.
const NAMES: &[&str] = &[
    "name",
    "key",
    "mountPath",
    "devicePath",
    "network",
    "interface",
    "type",
    "dst",
    "resourceName",
    "path",
];

/// An entry with a number behind its name, or behind all of its texts.
fn renamed(value: &Value, i: usize, all: bool) -> Value {
    match value {
        Value::String(text) if text.starts_with(['{', '[']) => value.clone(),
        Value::String(text) => format!("{text}{i}").into(),
        Value::Array(list) => list.iter().map(|v| if all { renamed(v, i, all) } else { v.clone() }).collect(),
        Value::Object(map) => {
            let known = map.keys().any(|k| NAMES.contains(&k.as_str()));
            let mut first = true;
            let member = |(key, value): (&String, &Value)| {
                let named = NAMES.contains(&key.as_str()) || !known && std::mem::take(&mut first);
                (key.clone(), if all || named { renamed(value, i, all) } else { value.clone() })
            };
            map.iter().map(member).collect::<Map<_, _>>().into()
        }
        Value::Number(number) if all => number.as_u64().map_or(value.clone(), |n| (n + i as u64).into()),
        other => other.clone(),
    }
}

fn grow_map(map: &Map<String, Value>, growth: Growth, bytes: usize) -> Map<String, Value> {
    let (key, value) = map.iter().next_back().map_or(("a", Value::Null), |(k, v)| (k.as_str(), v.clone()));
    let value = if growth == Growth::NullKeys { Value::Null } else { value };
    let key = if growth == Growth::NullKeys { "" } else { key };
    let each = key.len() + 9 + value.to_string().len();
    let name =
        |i: usize| if growth == Growth::Prefixed { format!("{i:05}{key}") } else { format!("{key}{i:05}") };
    let more = (0..bytes / each).map(|i| (name(i), value.clone()));
    map.iter().map(|(k, v)| (k.clone(), v.clone())).chain(more).collect()
}

fn grow_text(text: &str, growth: Growth, bytes: usize) -> String {
    let numbered = |between: &str| {
        let mut out = text.to_owned();
        for i in 0..bytes / (text.len() + between.len() + 4) {
            out.push_str(&format!("{between}{text}{i}"));
        }
        out
    };
    match growth {
        Growth::Joined(between) => {
            format!(
                "{text}{}",
                format!("{between}{text}").repeat(bytes / (text.len() + between.len()).max(1))
            )
        }
        Growth::Numbered(between) => numbered(between),
        Growth::Filled(part) => part.repeat(bytes / part.len()),
        Growth::Nested(open, close) => {
            let n = bytes / (open.len() + close.len());
            format!("{}{text}{}", open.repeat(n), close.repeat(n))
        }
        _ => text.to_owned(),
    }
}

//! JSON documents by chance, which shrink part by part.

use proptest::prelude::{Rng as _, Strategy};
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::{TestRng, TestRunner};
use serde_json::{Value, json};

/// Chance.
pub(crate) struct Dice<'a> {
    rng: &'a mut TestRng,
    /// How often something odd happens (percent).
    odd: usize,
}

impl Dice<'_> {
    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.rng.next_u32()).unwrap_or(0) % n.max(1)
    }
    /// Whether a thing of so many percent happens.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
    /// Whether to be odd here; some documents are tidy, others are not.
    pub(crate) fn odd(&mut self) -> bool {
        self.percent(self.odd)
    }
    /// One of some.
    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
    /// A list of fewer than `n`.
    pub(crate) fn list(&mut self, n: usize, make: impl Fn(&mut Self) -> Value) -> Value {
        (0..self.below(n)).map(|_| if self.odd() { Value::Null } else { make(self) }).collect()
    }
}

/// A JSON document that a failing trial shows as JSON.
#[derive(Clone)]
pub(crate) struct Document(pub(crate) Value);

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A strategy of JSON documents that are made by a function of chance.
pub(crate) struct Documents(pub(crate) fn(&mut Dice<'_>) -> Value);

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Documents")
    }
}

impl Strategy for Documents {
    type Tree = Tree;
    type Value = Document;
    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut dice = Dice { rng: &mut runner.new_rng(), odd: 0 };
        dice.odd = dice.pick(&[0, 1, 4, 20]);
        let now = (self.0)(&mut dice);
        Ok(Tree { best: now.clone(), now, at: 0, fresh: true, smaller: false })
    }
}

/// A document that shrinks part by part: each edit leaves a node out, halves a text or zeroes a number.
pub(crate) struct Tree {
    best: Value,
    now: Value,
    at: usize,
    fresh: bool,
    smaller: bool,
}

impl Tree {
    fn propose(&mut self) -> bool {
        loop {
            let nodes = pointers(&self.best);
            let Some(pointer) = nodes.get(self.at / 2) else {
                if !std::mem::take(&mut self.smaller) {
                    self.now = self.best.clone();
                    return false;
                }
                self.at = 0;
                continue;
            };
            self.now = self.best.clone();
            let done = if self.at.is_multiple_of(2) {
                remove(&mut self.now, pointer)
            } else {
                reduce(&mut self.now, pointer)
            };
            if done {
                return true;
            }
            self.at += 1;
        }
    }
}

impl ValueTree for Tree {
    type Value = Document;
    fn current(&self) -> Document {
        Document(self.now.clone())
    }
    fn simplify(&mut self) -> bool {
        if !std::mem::take(&mut self.fresh) {
            self.best = self.now.clone();
            self.smaller = true;
        }
        self.propose()
    }
    fn complicate(&mut self) -> bool {
        self.at += 1;
        self.propose()
    }
}

/// Pointers of every node but the root, parents first.
pub(crate) fn pointers(value: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, out: &mut Vec<String>) {
        let mut visit = |step: &str, child: &Value| {
            let pointer = format!("{at}/{}", step.replace('~', "~0").replace('/', "~1"));
            out.push(pointer.clone());
            walk(child, &pointer, out);
        };
        match value {
            Value::Object(members) => members.iter().for_each(|(key, child)| visit(key, child)),
            Value::Array(items) => items.iter().enumerate().for_each(|(i, item)| visit(&i.to_string(), item)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(value, "", &mut out);
    out
}

fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, step)) = pointer.rsplit_once('/') else { return false };
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.shift_remove(&step.replace("~1", "/").replace("~0", "~")).is_some()
        }
        Some(Value::Array(items)) => step.parse().map(|at: usize| drop(items.remove(at))).is_ok(),
        _ => false,
    }
}

fn reduce(value: &mut Value, pointer: &str) -> bool {
    match value.pointer_mut(pointer) {
        Some(Value::String(text)) if !text.is_empty() => {
            *text = text.chars().take(text.chars().count() / 2).collect();
            true
        }
        Some(number @ Value::Number(_)) if *number != 0 => {
            *number = 0.into();
            true
        }
        _ => false,
    }
}

/// Anything but a field of a pod.
pub(crate) fn junk(dice: &mut Dice<'_>) -> Value {
    let text =
        dice.pick(&["", "x", "8", "$N", "{{ .x }}", "é\u{1F600}", "\u{0}\n", "true", "eth0,rail0", "[{}]"]);
    match dice.below(10) {
        0 => Value::Null,
        1 => dice.percent(50).into(),
        2 => dice.pick(&[json!(0), json!(-1), json!(1.5), json!(u64::MAX), json!(i64::MIN), json!(1e300)]),
        3 => json!([]),
        4 => json!({}),
        5 => json!([null, text]),
        6 => json!({text: text}),
        7 => json!([[[]], {"name": {}}, 1]),
        _ => text.into(),
    }
}

/// Puts junk somewhere, leaves something out or doubles a list's item.
pub(crate) fn mangle(value: &mut Value, dice: &mut Dice<'_>) {
    let nodes = pointers(value);
    let at = if nodes.is_empty() { String::new() } else { dice.pick(&nodes) };
    match dice.below(4) {
        0 if !at.is_empty() => drop(remove(value, &at)),
        1 => {
            if let Some(Value::Array(items)) = value.pointer_mut(&at)
                && let Some(first) = items.first().cloned()
            {
                items.push(first);
            }
        }
        _ => {
            let with = junk(dice);
            if let Some(node) = value.pointer_mut(&at) {
                *node = with;
            }
        }
    }
}

/// Sets a member with so many percent; otherwise it is absent, or now and then `null`.
pub(crate) fn put(
    map: &mut Value,
    key: &str,
    percent: usize,
    dice: &mut Dice<'_>,
    make: impl Fn(&mut Dice<'_>) -> Value,
) {
    let value = match dice.below(100) {
        n if n < percent => make(dice),
        _ if dice.percent(1) || dice.odd() => Value::Null,
        _ => return,
    };
    map[key] = value;
}

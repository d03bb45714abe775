//! Names of the objects that a list has, packed: at 130,000 nodes a set of strings costs 15 MiB, which the allocator
//! does not give back as they lie among what stays.

/// Namespaces and names, in any order.
#[derive(Debug, Default)]
pub(super) struct PackedNames {
    /// `namespace/name`, one after the other. Neither holds a slash.
    text: String,
    /// Where each begins.
    starts: Vec<u32>,
}

impl PackedNames {
    /// Notes an object; the namespace of a cluster-scoped one is empty.
    pub(super) fn add(&mut self, namespace: &str, name: &str) {
        // Past 4 GiB of names, which no etcd holds.
        let Ok(start) = u32::try_from(self.text.len()) else { return };
        self.starts.push(start);
        for part in [namespace, "/", name, "\n"] {
            self.text.push_str(part);
        }
    }

    /// Objects (count).
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Answers whether the list has an object, by namespace and name.
    pub(super) fn into_membership_test(mut self) -> impl Fn(&str, &str) -> bool {
        let text = &self.text;
        self.starts.sort_unstable_by(|a, b| line(text, *a).cmp(line(text, *b)));
        move |namespace, name| self.has(namespace, name)
    }

    fn has(&self, namespace: &str, name: &str) -> bool {
        let asked = namespace.bytes().chain(*b"/").chain(name.bytes());
        self.starts.binary_search_by(|at| line(&self.text, *at).bytes().cmp(asked.clone())).is_ok()
    }
}

fn line(text: &str, start: u32) -> &str {
    let rest = usize::try_from(start).ok().and_then(|at| text.get(at..)).unwrap_or_default();
    rest.split_once('\n').map_or(rest, |(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_what_was_added() {
        let mut listed = PackedNames::default();
        for (namespace, name) in [("b", "x"), ("", "node-2"), ("a", "y"), ("", "node-10"), ("a", "y")] {
            listed.add(namespace, name);
        }
        assert_eq!(listed.len(), 5);
        let kept = listed.into_membership_test();
        for (namespace, name) in [("b", "x"), ("a", "y"), ("", "node-2"), ("", "node-10")] {
            assert!(kept(namespace, name), "{namespace}/{name}");
        }
        for (namespace, name) in [("b", "y"), ("", "node-1"), ("", ""), ("a", ""), ("b", "xx")] {
            assert!(!kept(namespace, name), "{namespace}/{name}");
        }
    }
}

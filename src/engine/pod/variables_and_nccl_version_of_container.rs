//! Facts about a container that planning and rules ask for again and again. Each is found once, so a long list or text of a
//! container is not read again for each variable of a profile.

use super::pod_fields::{Container, EnvVar};
use super::quick_test_for_absent_variable::NameMarks;
use crate::nccl::version_of_image::{NcclVersion, nccl_version_in_image_name};

/// Fewer variables than this are searched one by one: nearly every container has fewer.
const FEW: usize = 64;

impl<'a> Container<'a> {
    /// The entries of a variable with their places, the last one first.
    pub fn entries_of_variable_last_first<'c>(
        &'c self,
        name: &str,
    ) -> impl Iterator<Item = (usize, &'c EnvVar<'a>)> {
        let marks = self
            .read_once
            .variables
            .get_or_init(|| NameMarks::of(self.env().iter().filter_map(|variable| variable.name.as_deref())));
        let env = if marks.may_have(name) { self.env() } else { &[] };
        let few = (env.len() < FEW).then(|| env.iter().enumerate().rev());
        let name_of = |place: usize| env.get(place).and_then(|e| e.name.as_deref());
        let places =
            few.is_none().then(|| self.read_once.by_variable.places(env.len(), name_of, name)).into_iter();
        let scanned = few.into_iter().flatten().filter(move |(_, e)| e.name.as_deref() == Some(name));
        scanned.chain(places.flat_map(Iterator::rev).filter_map(|place| Some((place, env.get(place)?))))
    }

    /// The last entry of a variable, which is the effective one.
    #[must_use]
    pub fn last_entry_of_variable(&self, name: &str) -> Option<(usize, &EnvVar<'a>)> {
        self.entries_of_variable_last_first(name).next()
    }

    /// The version of NCCL by the name of the image.
    #[must_use]
    pub fn nccl_version_of_image(&self) -> Option<NcclVersion> {
        *self.read_once.nccl.get_or_init(|| self.image.as_deref().and_then(nccl_version_in_image_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_comes_first_among_few_and_many() {
        for others in [0, FEW] {
            let other = |i: usize| format!(r#"{{"name":"B{i}"}},null"#);
            let middle: Vec<String> = (0..others).map(other).chain(["null".to_owned()]).collect();
            let json =
                format!(r#"{{"env":[{{"name":"A"}},{},{{"name":"A"}},{{"name":"AB"}}]}}"#, middle.join(","));
            let container: Container<'_> = serde_json::from_str(&json).unwrap();
            let last = container.env().len() - 2;
            assert_eq!(
                container.entries_of_variable_last_first("A").map(|(at, _)| at).collect::<Vec<_>>(),
                [last, 0]
            );
            assert_eq!(container.last_entry_of_variable("C").map(|(at, _)| at), None);
        }
    }
}

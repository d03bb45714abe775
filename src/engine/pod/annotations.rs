//! Annotations by key.

use super::place_index::FEW;
use super::view::PodView;

impl PodView<'_> {
    /// An annotation; the last of a key that is given twice. Some are looked up for each container, and a pod has room for
    /// a hundred thousand.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        let metadata = self.metadata.as_ref()?;
        let pairs = metadata.annotations.as_ref()?;
        if pairs.0.len() < FEW {
            return Some(&**pairs.get(key)?);
        }
        let key_of = |place: usize| pairs.0.get(place).map(|(key, _)| &**key);
        let place = metadata.by_key.places(pairs.0.len(), key_of, key).last()?;
        pairs.0.get(*place).map(|(_, value)| &**value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_key_counts_among_few_and_many() {
        for others in [0, 40] {
            let others: String = (0..others).map(|i| format!(r#""k{i}":"{i}","#)).collect();
            let json = format!(r#"{{"metadata":{{"annotations":{{{others}"b":"1","a":"2","b":"3"}}}}}}"#);
            let pod: PodView<'_> = serde_json::from_str(&json).unwrap();
            let found = ["a", "b", "c", "k"].map(|key| pod.annotation(key).unwrap_or("none"));
            assert_eq!(found, ["2", "3", "none", "none"], "{json}");
        }
    }
}

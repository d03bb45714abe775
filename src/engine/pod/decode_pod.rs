//! Reading a pod. Not generic: a generic decoder is compiled again in every crate that calls it.

use super::PodView;
use super::pod_fields::TextOfPod;
use crate::json::decode_with_place::{self, DecodeError};
use crate::json::lists_too_long_to_decode::MAX_RESOURCES_OF_POD;

impl<'a> PodView<'a> {
    /// Reads a pod.
    ///
    /// # Errors
    /// [`DecodeError`] with the place of the first value that does not fit.
    pub fn read(json: &'a str) -> Result<Self, DecodeError> {
        let mut pod: Self = decode_with_place::decode_object(json)?;
        pod.source = TextOfPod::Pod(json);
        match pod.has_too_many_entries_of_resources() {
            false => Ok(pod),
            true => Err(DecodeError {
                pointer: "/spec/containers".to_owned(),
                message: format!(
                    "the containers have more than {MAX_RESOURCES_OF_POD} entries in limits and requests"
                ),
            }),
        }
    }

    /// Whether its containers have more entries in `limits` and `requests` than [`Self::read`] takes.
    pub(crate) fn has_too_many_entries_of_resources(&self) -> bool {
        let containers = self.containers().iter().chain(self.init_containers());
        let lists = containers.flat_map(|c| [c.limits(), c.requests()]).flatten();
        lists.map(|list| list.0.len()).sum::<usize>() > MAX_RESOURCES_OF_POD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::lists_too_long_to_decode::MAX_RESOURCES;

    #[test]
    fn a_pod_with_more_entries_of_resources_than_the_limit_is_refused() {
        let list: Vec<String> = (0..MAX_RESOURCES).map(|i| format!(r#""a/{i}":1"#)).collect();
        let full = format!(r#"{{"resources":{{"limits":{{{0}}},"requests":{{{0}}}}}}}"#, list.join(","));
        let pod = |containers: usize, more: &str| {
            let list = vec![full.as_str(); containers].join(",");
            format!(r#"{{"spec":{{"containers":[{list}],"initContainers":[{more}]}}}}"#)
        };
        let most = MAX_RESOURCES_OF_POD / (2 * MAX_RESOURCES);
        assert!(PodView::read(&pod(most, "")).is_ok());
        let error = PodView::read(&pod(most, r#"{"resources":{"limits":{"cpu":1}}}"#)).unwrap_err();
        assert_eq!(error.pointer, "/spec/containers");
        assert!(error.message.contains("more than 8192 entries"), "{error:?}");
    }
}

//! ConfigMaps that device plugins started by themselves read: `config.json`, with the plugin's list in it.

use super::device_plugin::{SRIOV_PREFIX, shared, sriov};
use super::object::Meta;
use super::resource::ResourceFact;
use crate::pod::decode::mapping;
use crate::review::decode::{DecodeError, object as decode};
use serde::Deserialize;

#[derive(Deserialize)]
struct ConfigMap {
    #[serde(default, deserialize_with = "mapping")]
    metadata: Option<Meta>,
    #[serde(default, deserialize_with = "mapping")]
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default, rename = "config.json")]
    config: Option<String>,
}

/// `None` where it configures neither plugin: any program may name its file so.
pub(super) fn read(json: &str) -> Result<(Meta, Option<Vec<ResourceFact>>), DecodeError> {
    let object: ConfigMap = decode(json)?;
    let config = object.data.and_then(|d| d.config).unwrap_or_default();
    let pools = sriov(&config, SRIOV_PREFIX).or_else(|_| shared(&config)).ok();
    Ok((object.metadata.unwrap_or_default(), pools))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_device_plugins_configurations_count() {
        let pools = |config: &str| {
            let json = serde_json::json!({"data": {"config.json": config, "other": "x"}}).to_string();
            read(&json).unwrap().1
        };
        let names = |config: &str| pools(config).unwrap()[0].name.to_string();
        assert_eq!(names(r#"{"resourceList":[{"resourceName":"a"}]}"#), "intel.com/a");
        assert_eq!(names(r#"{"configList":[{"resourceName":"a"}]}"#), "rdma/a");
        assert!(pools(r#"{"log":"debug"}"#).is_none());
        assert!(read(r#"{"data":{"run.sh":"echo"}}"#).unwrap().1.is_none());
    }
}

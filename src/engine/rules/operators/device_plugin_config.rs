//! Device plugin configurations inside of network operator objects.

use super::device_plugin_texts::{Concern, ConfigFault, shared, sriov};
use crate::json::go::DEVICE_PLUGIN;
use crate::rules::embedded;
use crate::rules::finding::Findings;
use crate::rules::locate::Places;
use crate::rules::object::ObjectContext;
use serde_json::Value;

/// Finds the faults of a configuration.
pub(super) type Reader = fn(&serde_json::Map<String, Value>) -> Vec<ConfigFault>;

/// Tells the faults of one concern, each at its place in the text.
pub(super) fn report(context: &ObjectContext<'_>, concern: Concern, findings: &mut Findings<'_>) {
    let Some(object) = context.value() else { return };
    let plugins: [(&str, Reader); 2] =
        [("/spec/rdmaSharedDevicePlugin/config", shared), ("/spec/sriovDevicePlugin/config", sriov)];
    for (pointer, read) in plugins {
        let Some(text) = object.pointer(pointer).and_then(Value::as_str) else { continue };
        let Ok(config) = embedded::object(text, DEVICE_PLUGIN) else { continue };
        let places = Places::default();
        for fault in read(&config).into_iter().filter(|f| f.concern == concern) {
            let place = || places.locate(text, &fault.pointer, DEVICE_PLUGIN);
            findings.add_within_as(fault.severity, pointer, place, fault.message, fault.fix);
        }
    }
}

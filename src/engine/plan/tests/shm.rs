//! `/dev/shm`.

use super::{Case, gpu};
use serde_json::json;

#[test]
fn a_volume_of_another_container_is_shared_where_it_is_large_enough() {
    for (volume, shared) in [
        (json!({"medium": "Memory"}), true),
        (json!({"medium": "Memory", "sizeLimit": "0"}), true),
        (json!({"medium": "Memory", "sizeLimit": "8Gi"}), true),
        (json!({"medium": "Memory", "sizeLimit": "8191Mi"}), false),
        (json!({"medium": "Memory", "sizeLimit": "much"}), false),
        (json!({"sizeLimit": "8Gi"}), false),
    ] {
        let mut case = Case::new();
        case.pod["spec"]["containers"] = json!([
            gpu("a"),
            {"name": "b", "volumeMounts": [{"name": "v", "mountPath": "/dev/shm"}]},
        ]);
        case.pod["spec"]["volumes"] = json!([{"name": "v", "emptyDir": volume}]);
        let mount = if shared { "0 mount v at /dev/shm" } else { "0 mount dshm at /dev/shm" };
        assert_eq!(case.only("0 mount"), [mount], "{volume}");
        assert_eq!(case.only("volume").is_empty(), shared, "{volume}");
    }
}

#[test]
fn a_memory_limit_of_zero_is_not_a_limit() {
    let size = |limit: &str| {
        let mut case = Case::new();
        case.container(0)["resources"]["limits"]["memory"] = limit.into();
        case.only("volume")
    };
    let volume = |size: &str| [format!("volume dshm: emptyDir in memory, sizeLimit {size}")];
    assert_eq!(size("0"), volume("8Gi"));
    assert_eq!(size("4Gi"), volume("2Gi"));
}

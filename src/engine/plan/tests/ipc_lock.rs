//! `IPC_LOCK`.

use super::Case;
use serde_json::json;

#[test]
fn it_is_added_after_existing_capabilities() {
    for (capabilities, index) in
        [(json!(null), 0), (json!({"drop": ["ALL"]}), 0), (json!({"add": ["SYS_PTRACE", "NET_RAW"]}), 2)]
    {
        let mut case = Case::new();
        case.spec["ipcLock"] = true.into();
        case.container(0)["securityContext"] = json!({"capabilities": capabilities});
        let plan = case.plan();
        let paths: Vec<String> = plan.changes.iter().map(|c| c.edit.path()).collect();
        let path = format!("/spec/containers/0/securityContext/capabilities/add/{index}");
        assert!(paths.contains(&path), "{paths:?}");
    }
}

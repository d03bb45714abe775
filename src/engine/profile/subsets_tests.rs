//! Profiles with subsets of their rails.

use crate::profile::{FabricProfile, Profile};

fn profile(subsets: &str) -> Result<Profile, (String, String)> {
    let yaml = format!(
        r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"p"}},
        "spec":{{"transport":"roce","attachment":"sriov","rails":[{{"network":"d/n","count":8}}],"subsets":{subsets}}}}}"#
    );
    let profile: FabricProfile = serde_json::from_str(&yaml).unwrap();
    Profile::checked_with_base(&profile, &[]).map_err(|e| (e.pointer, e.message))
}

#[test]
fn rails_stand_in_the_order_of_the_profile() {
    let profile = profile(r#"[{"name":"b","interfaces":["rail5","rail1"]}]"#).unwrap();
    let rails = &profile.subset("b").unwrap().rails;
    assert_eq!(rails.iter().map(|r| r.interface.as_str()).collect::<Vec<_>>(), ["rail1", "rail5"]);
    assert!(profile.subset("c").is_none());
}

#[test]
fn what_cannot_be_chosen_is_refused() {
    for (subsets, pointer, words) in [
        (r#"[{"name":"B","interfaces":["rail0"]}]"#, "/spec/subsets/0/name", "not a subset name"),
        (r#"[{"name":"b","interfaces":[]}]"#, "/spec/subsets/0/interfaces", "at least one"),
        (r#"[{"name":"b","interfaces":["rail8"]}]"#, "/spec/subsets/0/interfaces/0", "did you mean"),
        (r#"[{"name":"b","interfaces":["rail1","rail1"]}]"#, "/spec/subsets/0/interfaces/1", "duplicate"),
        (
            r#"[{"name":"b","interfaces":["rail1"]},{"name":"b","interfaces":["rail2"]}]"#,
            "/spec/subsets/1/name",
            "duplicate",
        ),
    ] {
        let (at, message) = profile(subsets).unwrap_err();
        assert_eq!(at, pointer, "{message}");
        assert!(message.contains(words), "{message}");
    }
}

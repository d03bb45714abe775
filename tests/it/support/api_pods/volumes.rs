//! Volumes by chance, and mounts of them.

use crate::support::generated_documents::{Dice, put};
use serde_json::{Value, json};

/// Names, including names that the volumes of the webhook could have.
const NAMES: [&str; 7] =
    ["dshm", "fabric-dshm", "fabric-admission-dshm", "data", "nccl-conf", "fabric-nccl", "block"];

/// Volumes, each name at most once.
pub(super) fn list(dice: &mut Dice<'_>) -> Value {
    let mut names = NAMES;
    for at in (1..names.len()).rev() {
        names.swap(at, dice.below(at + 1));
    }
    let count = dice.below(5);
    names.iter().take(count).map(|name| volume(name, dice)).collect()
}

fn volume(name: &str, dice: &mut Dice<'_>) -> Value {
    let mut volume = json!({"name": name});
    if name == "block" {
        volume["persistentVolumeClaim"] = json!({"claimName": "disk"});
        return volume;
    }
    let (key, source) = match dice.below(14) {
        0..=4 => {
            let mut empty_dir = json!({});
            put(&mut empty_dir, "medium", 70, dice, |dice| {
                dice.pick(&["Memory", "Memory", "", "HugePages"]).into()
            });
            put(&mut empty_dir, "sizeLimit", 60, dice, |dice| {
                dice.pick(&[json!("64Gi"), json!("1Gi"), json!("64Mi"), json!(0), json!(1e9), json!("500m")])
            });
            ("emptyDir", empty_dir)
        }
        5 => ("hostPath", json!({"path": dice.pick(&["/dev/shm", "/dev/infiniband", "/mnt"])})),
        6 => ("configMap", json!({"name": "nccl", "items": [{"key": "nccl.conf", "path": "nccl.conf"}]})),
        7 => ("secret", json!({"secretName": "ssh", "defaultMode": 256, "optional": true})),
        8 => (
            "downwardAPI",
            json!({"items": [{"path": "nccl.conf", "fieldRef": {"fieldPath": "metadata.annotations['example.com/nccl']"}}]}),
        ),
        9 => ("persistentVolumeClaim", json!({"claimName": "shm", "readOnly": false})),
        10 => (
            "ephemeral",
            json!({"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}),
        ),
        11 => ("image", json!({"reference": "example.com/models:1", "pullPolicy": "IfNotPresent"})),
        12 => (
            "projected",
            json!({"sources": [{"configMap": {"name": "nccl"}}, {"serviceAccountToken": {"path": "t"}}]}),
        ),
        // A volume without a source is an empty directory.
        _ => return if dice.percent(50) { json!({"name": name, "emptyDir": null}) } else { volume },
    };
    volume[key] = source;
    volume
}

/// Mounts of some volumes, no path twice.
pub(super) fn mounts(volumes: &[Value], dice: &mut Dice<'_>) -> Value {
    let mut paths = [
        "/dev/shm",
        "/dev/shm",
        "/dev/shm/",
        "//dev/shm",
        "/dev/./shm",
        "/dev/shm/x",
        "/dev",
        "/data",
        "/etc",
        "/etc/nccl.conf",
        "/etc/nccl.conf/",
        "/etc/nccl.conf.d",
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "/",
    ];
    for at in (1..paths.len()).rev() {
        paths.swap(at, dice.below(at + 1));
    }
    let mut used: Vec<&str> = Vec::new();
    let mut mounts = Vec::new();
    let usable: Vec<&Value> = volumes.iter().filter(|v| v["name"] != "block").collect();
    for path in paths {
        if usable.is_empty() || mounts.len() > 3 || !dice.percent(35) || used.contains(&path) {
            continue;
        }
        used.push(path);
        let volume = dice.pick(&usable);
        let mut mount = json!({"name": volume["name"], "mountPath": path});
        if volume["image"].is_object() {
            mounts.push(mount);
            continue;
        }
        put(&mut mount, "readOnly", 25, dice, |dice| dice.percent(50).into());
        if dice.percent(25) {
            mount["subPath"] = dice.pick(&["nccl.conf", "shm", ""]).into();
        } else if dice.percent(5) {
            mount["subPathExpr"] = "$(A)".into();
        }
        mounts.push(mount);
    }
    mounts.into()
}

/// The block device of a pod that has one, at a path that no mount has.
pub(super) fn devices(volumes: &[Value], mounts: &Value, dice: &mut Dice<'_>) -> Value {
    let path = dice.pick(&["/dev/shm", "/dev/xvda", "/etc/nccl.conf"]);
    let free = mounts.as_array().into_iter().flatten().all(|m| m["mountPath"] != path);
    if free && volumes.iter().any(|v| v["name"] == "block") {
        json!([{"name": "block", "devicePath": path}])
    } else {
        dice.pick(&[json!([]), Value::Null])
    }
}

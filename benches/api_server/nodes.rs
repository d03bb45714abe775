//! Nodes as a large GPU cluster has them, about 34 kB each, written on the fly.

use serde_json::{Map, Value, json};

/// A Node as text with holes: what lies between them is the same for all.
pub(crate) struct Template {
    pieces: Vec<String>,
    holes: Vec<Hole>,
}

#[derive(Clone, Copy)]
enum Hole {
    Name,
    Number,
    Rack,
    Zone,
    Fabric,
    Repair,
    Time,
    Revision,
}

const HOLES: [(&str, Hole); 8] = [
    ("@NAME@", Hole::Name),
    ("@NUMBER@", Hole::Number),
    ("@RACK@", Hole::Rack),
    ("@ZONE@", Hole::Zone),
    ("@FABRIC@", Hole::Fabric),
    ("@REPAIR@", Hole::Repair),
    ("@TIME@", Hole::Time),
    ("@REVISION@", Hole::Revision),
];

/// Fabrics that the nodes are spread over.
pub(crate) const FABRICS: usize = 8;

impl Template {
    pub(crate) fn new() -> Self {
        let text = node().to_string();
        let (mut pieces, mut holes) = (Vec::new(), Vec::new());
        let mut rest = text.as_str();
        while let Some((at, (mark, hole))) =
            HOLES.iter().filter_map(|h| rest.find(h.0).map(|at| (at, h))).min_by_key(|(at, _)| *at)
        {
            pieces.push(rest[..at].to_owned());
            holes.push(*hole);
            rest = &rest[at + mark.len()..];
        }
        pieces.push(rest.to_owned());
        Self { pieces, holes }
    }

    /// Writes node `number` as it is at a tick of the clock, behind what is in `out`.
    pub(crate) fn write(&self, number: usize, tick: u64, repair: bool, out: &mut Vec<u8>) {
        use std::io::Write;
        for (place, piece) in self.pieces.iter().enumerate() {
            out.extend_from_slice(piece.as_bytes());
            let Some(hole) = self.holes.get(place) else { continue };
            let written = match hole {
                Hole::Name => write!(out, "gpu-{number:06}"),
                Hole::Number => write!(out, "{number:06}"),
                Hole::Rack => write!(out, "rack-{}", number / 16),
                Hole::Zone => write!(out, "zone-{}", number / 16 % 12),
                Hole::Fabric => write!(out, "fabric-{}", number / 512 % FABRICS),
                Hole::Repair => write!(out, "{repair}"),
                Hole::Time => {
                    write!(out, "2026-11-21T{:02}:{:02}:{:02}Z", tick / 3600 % 24, tick / 60 % 60, tick % 60)
                }
                Hole::Revision => write!(out, "{}", 1000 + tick),
            };
            written.unwrap();
        }
    }
}

/// Labels: what the kubelet, node feature discovery, the GPU operator and the site write.
fn labels() -> Map<String, Value> {
    let mut labels = Map::new();
    for (key, value) in [
        ("kubernetes.io/hostname", "@NAME@"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
        ("node.kubernetes.io/instance-type", "bm.gpu.h100.8"),
        ("topology.kubernetes.io/region", "region-1"),
        ("topology.kubernetes.io/zone", "@ZONE@"),
        ("site.example.com/rack", "@RACK@"),
        ("site.example.com/fabric", "@FABRIC@"),
        ("site.example.com/repair", "@REPAIR@"),
        ("nvidia.com/gpu.present", "true"),
        ("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"),
        ("nvidia.com/gpu.count", "8"),
        ("nvidia.com/gpu.memory", "81559"),
    ] {
        labels.insert(key.to_owned(), json!(value));
    }
    for n in 0..67 {
        labels.insert(format!("feature.node.kubernetes.io/cpu-cpuid.FEATURE{n:02}"), json!("true"));
    }
    labels
}

fn node() -> Value {
    let labels = labels();
    let resources = json!({
        "cpu": "192", "ephemeral-storage": "7500000000000", "hugepages-1Gi": "0", "hugepages-2Mi": "0",
        "memory": "2113407800Ki", "nvidia.com/gpu": "8", "nvidia.com/sriov_resource": "8", "pods": "110"
    });
    let field = |keys: Vec<String>| {
        Value::Object(keys.into_iter().map(|k| (format!("f:{k}"), json!({}))).collect::<Map<_, _>>())
    };
    let conditions: Vec<Value> = [
        "MemoryPressure", "DiskPressure", "PIDPressure", "Ready", "KernelDeadlock", "ReadonlyFilesystem",
        "FrequentKubeletRestart", "FrequentContainerdRestart", "XidError", "NvlinkError", "IbLinkFlap",
    ]
    .iter()
    .map(|kind| {
        json!({"type": kind, "status": if *kind == "Ready" { "True" } else { "False" },
               "lastHeartbeatTime": "@TIME@", "lastTransitionTime": "2026-09-01T00:00:00Z",
               "reason": format!("{kind}IsAsItShouldBe"), "message": format!("kubelet or problem detector: no {kind}")})
    })
    .collect();
    let manager = |name: &str, fields: Value| {
        json!({"manager": name, "operation": "Update", "apiVersion": "v1", "time": "@TIME@",
               "fieldsType": "FieldsV1", "fieldsV1": fields})
    };
    let managed = json!([
        manager(
            "kubelet",
            json!({"f:metadata": {"f:annotations": {}, "f:labels": field(labels.keys().take(13).cloned().collect())}})
        ),
        manager(
            "nfd-master",
            json!({"f:metadata": {"f:labels": field(labels.keys().skip(13).cloned().collect())}})
        ),
        manager(
            "kube-controller-manager",
            json!({"f:spec": {"f:podCIDR": {}, "f:podCIDRs": {"v:\"10.0.0.0/24\"": {}}}})
        ),
        manager(
            "kubelet",
            json!({"f:status": {
            "f:allocatable": field(resources.as_object().unwrap().keys().cloned().collect()),
            "f:conditions": conditions.iter().map(|c| (format!("k:{{\"type\":{}}}", c["type"]), json!({
                "f:lastHeartbeatTime": {}, "f:status": {}, "f:reason": {}, "f:message": {}})))
                .collect::<Map<_, _>>(),
            "f:images": {}}})
        ),
    ]);
    let images: Vec<Value> = (0..71)
        .map(|n| {
            let digest = format!("{n:02x}").repeat(32);
            json!({"names": [format!("registry.example.com/team-{n:02}/training-image@sha256:{digest}"),
                             format!("registry.example.com/team-{n:02}/training-image:v1.{n}.0-cuda12.9-nccl2.28")],
                   "sizeBytes": 9_876_543_210_u64 + n})
        })
        .collect();
    json!({
        "kind": "Node", "apiVersion": "v1",
        "metadata": {
            "name": "@NAME@", "uid": "6f1c0a52-0000-4000-8000-000000@NUMBER@", "resourceVersion": "@REVISION@",
            "creationTimestamp": "2026-09-01T00:00:00Z", "labels": labels,
            "annotations": {
                "csi.volume.kubernetes.io/nodeid": "{\"csi.example.com\":\"@NAME@\"}",
                "nfd.node.kubernetes.io/feature-labels": labels.keys().cloned().collect::<Vec<_>>().join(","),
                "node.alpha.kubernetes.io/ttl": "300",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true"
            },
            "managedFields": managed
        },
        "spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"], "providerID": "site://@NAME@",
                 "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
        "status": {
            "capacity": resources, "allocatable": resources, "conditions": conditions, "images": images,
            "addresses": [{"type": "InternalIP", "address": "10.1.2.3"}, {"type": "Hostname", "address": "@NAME@"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {"machineID": "0123456789abcdef0123456789@NUMBER@", "bootID": "b", "kernelVersion": "6.8.0-88-generic",
                         "osImage": "Ubuntu 24.04.3 LTS", "containerRuntimeVersion": "containerd://2.1.4",
                         "kubeletVersion": "v1.33.5", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}
        }
    })
}

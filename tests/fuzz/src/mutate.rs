//! Inputs that are JSON, changed so that they stay JSON: a node is left out, made null, moved, repeated, or given
//! another type. Bytes alone rarely get past the first bracket.

use serde_json::{Value, json};

/// Changes a JSON document in place and returns its new length; `None` where bytes should be changed instead.
pub fn json(data: &mut [u8], size: usize, max: usize, seed: u32) -> Option<usize> {
    let mut chance = Chance(u64::from(seed) << 1 | 1);
    if chance.below(4) == 0 {
        return None;
    }
    let mut document: Value = serde_json::from_slice(data.get(..size)?).ok()?;
    for _ in 0..=chance.below(3) {
        change(&mut document, &mut chance);
    }
    let text = document.to_string();
    let room = data.get_mut(..text.len()).filter(|_| text.len() <= max)?;
    room.copy_from_slice(text.as_bytes());
    Some(text.len())
}

/// xorshift64*.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).unwrap_or(0) % n.max(1)
    }
}

fn change(document: &mut Value, chance: &mut Chance) {
    let mut places = Vec::new();
    pointers(document, String::new(), &mut places);
    let other = places.get(chance.below(places.len())).and_then(|p| document.pointer(p)).cloned();
    let Some(node) = places.get(chance.below(places.len())).and_then(|p| document.pointer_mut(p)) else {
        return;
    };
    match (chance.below(10), &mut *node) {
        (0, _) => *node = Value::Null,
        (1, _) => *node = odd(chance),
        (2 | 3, _) => *node = other.unwrap_or_default(),
        (4, Value::Array(list)) if !list.is_empty() => {
            let at = chance.below(list.len());
            list.insert(at, list[at].clone());
        }
        (5, Value::Array(list)) if !list.is_empty() => drop(list.remove(chance.below(list.len()))),
        (4 | 5, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(chance.below(map.len())).cloned().unwrap_or_default();
            let value = map.remove(&key);
            if chance.below(2) == 0 {
                map.insert(word(chance), value.unwrap_or_default());
            }
        }
        (6, Value::Object(map)) => drop(map.insert(word(chance), other.unwrap_or_default())),
        (6, Value::Array(list)) => list.push(other.unwrap_or_default()),
        (_, Value::String(text)) => match chance.below(4) {
            0 => text.push_str(&word(chance)),
            1 => *text = word(chance),
            2 => drop(text.pop()),
            _ => text.insert_str(0, &word(chance)),
        },
        (_, Value::Number(_)) => {
            *node = [json!(0), json!(-1), json!(8), json!(i64::MAX), json!(0.5)][chance.below(5)].clone()
        }
        (_, Value::Bool(truth)) => *truth = !*truth,
        _ => {}
    }
}

fn pointers(node: &Value, at: String, out: &mut Vec<String>) {
    match node {
        Value::Array(list) => {
            for (i, child) in list.iter().enumerate() {
                pointers(child, format!("{at}/{i}"), out);
            }
        }
        Value::Object(map) => {
            for (key, child) in map {
                pointers(child, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

fn odd(chance: &mut Chance) -> Value {
    let odds = [
        json!({}),
        json!([]),
        json!(""),
        json!([null]),
        json!(0),
        json!(-1),
        json!(true),
        json!({"a": {"b": []}}),
    ];
    odds[chance.below(odds.len())].clone()
}

/// A text that means something somewhere.
fn word(chance: &mut Chance) -> String {
    WORDS[chance.below(WORDS.len())].to_owned()
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "", "0", "1", "8", "true", "auto", "é", "\n", "$(A)", "{{ .x }}", "a/b@c", ",", "=", "64Gi", "500m", "1e3", "-1",
    "nvidia.com/gpu", "nvidia.com/rdma_vf", "rdma/rdma_shared_device_a", "vpc.amazonaws.com/efa", "memory",
    "k8s.v1.cni.cncf.io/networks", "k8s.v1.cni.cncf.io/resourceName", "fabric-admission.dev/profile",
    "fabric-admission.dev/rails", "fabric-admission.dev/containers", "fabric-admission.dev/inject",
    "fabric-admission.dev/ignore.FAB401", "p0", "p1", "numa0", "default/rdma-net", "rdma-net, rdma-net@rail1",
    "[{\"name\":\"rdma-net\",\"interface\":\"rail0\"}]", "/dev/shm", "/etc/nccl.conf", "/etc", "Memory", "IPC_LOCK",
    "CAP_IPC_LOCK", "NCCL_IB_DISABLE", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "=mlx5_0:1,mlx5_1", "^docker,lo", "eth0",
    "hostNetwork", "hostUsers", "hostIPC", "emptyDir", "medium", "sizeLimit", "securityContext", "runAsUser",
    "runAsNonRoot", "privileged", "capabilities", "add", "containers", "initContainers", "volumes", "volumeMounts",
    "env", "name", "value", "valueFrom", "resources", "limits", "requests", "claims", "annotations", "labels",
    "metadata", "spec", "restartPolicy", "Always", "command", "args", "-c", "export NCCL_IB_HCA=mlx5",
    "mpirun -x NCCL_DEBUG=INFO a", "{\"type\":\"sriov\"}", "isRdma", "deviceType", "vfio-pci", "linkType", "numVfs",
];

//! Containers by chance.

use super::volumes;
use crate::support::generated_documents::{Dice, put};
use serde_json::{Value, json};

/// A container of a pod with these volumes.
pub(super) fn container(
    name: &str,
    init: bool,
    claims: bool,
    pod_volumes: &[Value],
    dice: &mut Dice<'_>,
) -> Value {
    let mut container = json!({"name": name, "image": "example.com/trainer:1"});
    put(&mut container, "command", 30, dice, |dice| {
        let words = ["torchrun", "/usr/sbin/sshd", "export NCCL_IB_HCA=mlx5; exec x", "$(NCCL_NET) $$(A)"];
        (0..dice.below(3)).map(|_| dice.pick(&words)).collect()
    });
    put(&mut container, "args", 30, dice, |dice| {
        let words = ["-c", "mpirun -x NCCL_NET=IB ./a", "${NCCL_SOCKET_IFNAME:-eth0}", "train.py"];
        (0..dice.below(3)).map(|_| dice.pick(&words)).collect()
    });
    put(&mut container, "env", 60, dice, |dice| (0..dice.below(6)).map(|_| variable(dice)).collect());
    put(&mut container, "envFrom", 12, dice, |dice| {
        dice.pick(&[
            json!([]),
            json!([{"configMapRef": {"name": "nccl"}}]),
            json!([{"prefix": "NCCL_", "secretRef": {"name": "s", "optional": true}}]),
        ])
    });
    put(&mut container, "resources", 90, dice, |dice| resources(claims, dice));
    put(&mut container, "securityContext", 45, dice, security_context);
    let mounts = volumes::mounts(pod_volumes, dice);
    if dice.percent(15) {
        container["volumeDevices"] = volumes::devices(pod_volumes, &mounts, dice);
    }
    let empty = mounts.as_array().is_some_and(Vec::is_empty);
    if !empty || dice.percent(20) {
        container["volumeMounts"] = if empty && dice.percent(50) { Value::Null } else { mounts };
    }
    if init && dice.percent(45) {
        container["restartPolicy"] = "Always".into();
        put(&mut container, "startupProbe", 30, dice, |_| json!({"exec": {"command": ["true"]}}));
    } else if dice.percent(8) {
        container["restartPolicy"] = "Never".into();
        put(
            &mut container,
            "restartPolicyRules",
            70,
            dice,
            |_| json!([{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]),
        );
    }
    if !init {
        put(&mut container, "livenessProbe", 10, dice, |_| json!({"tcpSocket": {"port": 22}}));
        put(&mut container, "ports", 10, dice, |_| json!([{"containerPort": 22, "name": "ssh"}]));
        put(&mut container, "lifecycle", 6, dice, |_| json!({"postStart": {"exec": {"command": ["true"]}}}));
    }
    put(&mut container, "workingDir", 8, dice, |_| "/workspace".into());
    put(&mut container, "terminationMessagePath", 4, dice, |_| "/dev/shm/message".into());
    put(
        &mut container,
        "resizePolicy",
        5,
        dice,
        |_| json!([{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
    );
    container
}

/// Does something to every container of a pod.
pub(super) fn each(spec: &mut Value, mut change: impl FnMut(&mut Value)) {
    for list in ["containers", "initContainers"] {
        if let Some(containers) = spec.get_mut(list).and_then(Value::as_array_mut) {
            containers.iter_mut().for_each(&mut change);
        }
    }
}

/// A container as a level of Pod Security takes it.
pub(super) fn at_level(container: &mut Value, level: usize) {
    let mut context = container["securityContext"].as_object().cloned().unwrap_or_default();
    context.remove("privileged");
    let drop = context.get("capabilities").map(|c| c["drop"].clone()).unwrap_or_default();
    context.insert("capabilities".into(), json!({"drop": if level > 1 { json!(["ALL"]) } else { drop }}));
    if level > 1 {
        let own = [("runAsNonRoot", json!(true)), ("allowPrivilegeEscalation", json!(false))];
        context.extend(own.map(|(key, value)| (key.to_owned(), value)));
        context.insert("seccompProfile".into(), json!({"type": "RuntimeDefault"}));
        context.remove("runAsUser");
    }
    container["securityContext"] = Value::Object(context);
}

fn variable(dice: &mut Dice<'_>) -> Value {
    let names = [
        "NCCL_NET",
        "NCCL_IB_HCA",
        "NCCL_IB_TC",
        "NCCL_IB_SL",
        "NCCL_IB_DISABLE",
        "NCCL_SOCKET_IFNAME",
        "NCCL_IGNORE_NET_MISMATCH",
        "NCCL_CONF_FILE",
        "A",
        "A",
        "a.b-c",
    ];
    let mut variable = json!({"name": dice.pick(&names)});
    if dice.percent(15) {
        variable["valueFrom"] = dice.pick(&[
            json!({"fieldRef": {"fieldPath": "status.podIP"}}),
            json!({"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.annotations['k8s.v1.cni.cncf.io/networks']"}}),
            json!({"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}),
            json!({"configMapKeyRef": {"name": "nccl", "key": "hca", "optional": true}}),
            json!({"secretKeyRef": {"name": "nccl", "key": "hca"}}),
        ]);
        if dice.percent(20) {
            variable["value"] = "".into();
        }
        return variable;
    }
    let values = ["IB", "Socket", "1", "0", "auto", "mlx5", "eth0", "", "$(A)", "$(NCCL_NET)", "é\"\\"];
    put(&mut variable, "value", 90, dice, |dice| dice.pick(&values).into());
    variable
}

/// Resources that profiles of the tests ask, and others.
const EXTENDED: [&str; 8] = [
    "nvidia.com/sriov_resource",
    "rdma/rdma_shared_device_a",
    "nvidia.com/hostdev",
    "example.com/vf-a",
    "example.com/vf-b",
    "example.com/slot",
    "vpc.amazonaws.com/efa",
    "rdma/ib",
];

fn resources(claims: bool, dice: &mut Dice<'_>) -> Value {
    let (mut limits, mut requests) = (json!({}), json!({}));
    let mut both = |name: &str, quantity: &Value, dice: &mut Dice<'_>| {
        limits[name] = quantity.clone();
        if dice.percent(35) {
            requests[name] = quantity.clone();
        }
    };
    if dice.percent(95) {
        // One quantity in many words.
        let counts = [
            json!(8),
            json!("8"),
            json!("8000m"),
            json!("0.8e1"),
            json!("+8"),
            json!(8.0),
            json!(1),
            json!("4"),
            json!(2),
            json!("0.004k"),
            json!("1e1"),
            json!("1k"),
        ];
        let counts = if dice.percent(8) { vec![json!(0), Value::Null] } else { counts.to_vec() };
        both("nvidia.com/gpu", &dice.pick(&counts), dice);
    }
    for name in
        ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared", "amd.com/gpu", "aws.amazon.com/neuroncore"]
    {
        if dice.percent(3) {
            both(name, &json!("2"), dice);
        }
    }
    for name in EXTENDED {
        if dice.percent(1) {
            let counts = [
                json!(8),
                json!(1),
                json!("4"),
                json!("1e1"),
                json!(0),
                Value::Null,
                json!("3000m"),
                json!("9P"),
            ];
            both(name, &dice.pick(&counts), dice);
        }
    }
    if dice.percent(30) {
        both("cpu", &dice.pick(&[json!(8), json!("500m"), json!(0.5)]), dice);
    }
    if dice.percent(40) {
        let sizes = ["1Gi", "64Gi", "2Ti", "0", "100G", "512Mi", "1e12", "128974848500m"];
        both("memory", &dice.pick(&sizes).into(), dice);
    }
    if dice.percent(5) {
        both("memory", &json!("8Gi"), dice);
        both("hugepages-2Mi", &json!("1Gi"), dice);
    }
    let mut resources = json!({});
    for (key, map) in [("limits", limits), ("requests", requests)] {
        let empty = map.as_object().is_some_and(serde_json::Map::is_empty);
        if !empty || dice.percent(10) {
            resources[key] = if empty && dice.percent(50) { Value::Null } else { map };
        }
    }
    if claims {
        put(&mut resources, "claims", 30, dice, |dice| {
            dice.pick(&[json!([{"name": "nic"}]), json!([{"name": "gpu", "request": "one"}]), json!([])])
        });
    }
    resources
}

fn security_context(dice: &mut Dice<'_>) -> Value {
    let mut context = json!({});
    put(&mut context, "runAsUser", 20, dice, |dice| dice.pick(&[0, 1000]).into());
    put(&mut context, "runAsNonRoot", 20, dice, |dice| dice.percent(60).into());
    put(&mut context, "privileged", 12, dice, |dice| dice.percent(40).into());
    if context["privileged"] != true {
        put(&mut context, "allowPrivilegeEscalation", 30, dice, |dice| dice.percent(30).into());
    }
    put(&mut context, "readOnlyRootFilesystem", 10, dice, |dice| dice.percent(50).into());
    put(&mut context, "seccompProfile", 30, dice, |_| json!({"type": "RuntimeDefault"}));
    put(&mut context, "capabilities", 60, dice, |dice| {
        let mut capabilities = json!({});
        let names = ["IPC_LOCK", "NET_ADMIN", "CAP_IPC_LOCK", "ALL", "ipc_lock", "SYS_RESOURCE", ""];
        put(&mut capabilities, "add", 50, dice, |dice| {
            (0..dice.below(3)).map(|_| dice.pick(&names)).collect()
        });
        put(&mut capabilities, "drop", 50, dice, |dice| {
            dice.pick(&[json!(["ALL"]), json!([]), json!(["IPC_LOCK"]), json!(["NET_RAW"])])
        });
        capabilities
    });
    context
}

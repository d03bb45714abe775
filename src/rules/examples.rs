//! Objects that the examples of several rules share.

/// A node whose operator has made RDMA functions `rdma_vf` on an Ethernet NIC, in an RDMA mode.
macro_rules! node_state {
    ($mode:literal) => {
        concat!(
            "apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: gpu-1, namespace: sriov-network-operator}
spec:
  interfaces:
  - name: ens1f0np0
    pciAddress: '0000:19:00.0'
    numVfs: 8
    vfGroups: [{resourceName: rdma_vf, isRdma: true, deviceType: netdevice, policyName: rails, vfRange: 0-7}]
status:
  syncStatus: Succeeded
  system: {rdmaMode: ",
            $mode,
            "}
  interfaces:
  - {name: ens1f0np0, pciAddress: '0000:19:00.0', linkType: ETH, numVfs: 8, mtu: 9000}
---
"
        )
    };
}

/// A network on those functions, with the plugins that follow `sriov` in the chain.
macro_rules! vf_network {
    ($chained:literal) => {
        concat!(
            "apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"rail\", \"plugins\": [{\"type\": \"sriov\", \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}",
            $chained,
            "]}'
---
"
        )
    };
}

/// A pool of shared RDMA devices over an Ethernet NIC.
macro_rules! shared_pool {
    () => {
        "apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  rdmaSharedDevicePlugin:
    image: k8s-rdma-shared-dev-plugin
    repository: ghcr.io/mellanox
    version: '1.5.3'
    config: '{\"configList\": [{\"resourceName\": \"hca_a\", \"rdmaHcaMax\": 63, \"selectors\": {\"vendors\": [\"15b3\"], \"ifNames\": [\"ens1f0np0\"], \"linkTypes\": [\"ether\"]}}]}'
---
"
    };
}

/// A macvlan network over a NIC.
macro_rules! macvlan_network {
    ($master:literal) => {
        concat!(
            "apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: macvlan, namespace: default}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"macvlan\", \"type\": \"macvlan\", \"master\": \"",
            $master,
            "\", \"mode\": \"bridge\", \"mtu\": 9000, \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}'
---
"
        )
    };
}

/// A training pod: fields of its metadata, of its spec, its limits, and fields of its container, each in flow style.
macro_rules! pod {
    (metadata: $metadata:literal, spec: $spec:literal, limits: $limits:literal, container: $container:literal) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: trainer
",
            $metadata,
            "spec:
",
            $spec,
            "  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1",
            $limits,
            "}}
    securityContext: {capabilities: {add: [IPC_LOCK]}}
",
            $container
        )
    };
    (networks: $networks:literal, limits: $limits:literal) => {
        pod!(
            metadata: "",
            networks: $networks,
            spec: "",
            limits: $limits,
            container: ""
        )
    };
    (metadata: "", networks: $networks:literal, spec: $spec:literal, limits: $limits:literal, container: $container:literal) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {k8s.v1.cni.cncf.io/networks: '",
            $networks,
            "'}
spec:
",
            $spec,
            "  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1",
            $limits,
            "}}
    securityContext: {capabilities: {add: [IPC_LOCK]}}
",
            $container
        )
    };
}

pub(super) use {macvlan_network, node_state, pod, shared_pool, vf_network};

//! Lines of logs and events that a missing or broken fabric causes, in our own words.

/// What a known line means in a log of NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Something failed.
    Failure,
    /// Why NCCL falls back to TCP, or copies through host memory; not a failure while another device works.
    Reason,
    /// Not a failure.
    Harmless,
    /// NCCL's log does not have this line: another program writes it.
    Elsewhere,
}

/// A line that a program writes.
#[derive(Debug)]
pub struct KnownLine {
    /// Parts of the line, in their order; names and numbers between them vary.
    pub fragments: &'static [&'static str],
    /// What the line means in a log of NCCL.
    pub meaning: Meaning,
    /// The program.
    pub from: &'static str,
    /// Why the line is written.
    pub cause: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// Rules that find the cause in manifests.
    pub rules: &'static [&'static str],
    /// Where the line or its cause is documented.
    pub source: &'static str,
}

impl KnownLine {
    /// The fragments as one text, as `explain` takes it.
    #[must_use]
    pub fn quoted(&self) -> String {
        self.fragments.join(" … ")
    }

    /// Whether a line of a log has all fragments, in their order.
    #[must_use]
    pub fn is_in(&self, line: &str) -> bool {
        let mut rest = line;
        self.fragments.iter().all(|fragment| {
            let Some(at) = memchr::memmem::find(rest.as_bytes(), fragment.as_bytes()) else { return false };
            rest = rest.get(at + fragment.len()..).unwrap_or_default();
            true
        })
    }
}

const NCCL_SOURCE: &str = "NVIDIA/nccl, src/transport/net_ib.cc and src/misc, 2.18 to 2.30";
const WEBHOOK_SOURCE: &str = "docs/webhook-failures.md, measured with kube-apiserver 1.36";

/// All known lines.
pub static KNOWN_LINES: [KnownLine; 36] = [
    KnownLine {
        fragments: &["NET/IB : No device found"],
        meaning: Meaning::Reason,
        from: "NCCL, with NCCL_DEBUG=INFO",
        cause: "NCCL sees no RDMA device in the container, or NCCL_IB_HCA matches none. NCCL then uses TCP over sockets.",
        fix: "Request the RDMA resource and its network in the container that runs NCCL, and check that NCCL_IB_HCA matches the \
              devices of the container. ls /dev/infiniband shows whether the container has an RDMA device.",
        rules: &["FAB202", "FAB226", "FAB412", "FAB801"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["Failed to open libibverbs.so"],
        meaning: Meaning::Reason,
        from: "NCCL, with NCCL_DEBUG=INFO",
        cause: "The image has no libibverbs, so NCCL cannot use RDMA and falls back to TCP.",
        fix: "Install libibverbs and the provider library of the NIC (Debian: libibverbs1, ibverbs-providers) in the image.",
        rules: &[],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["Using network Socket"],
        meaning: Meaning::Reason,
        from: "NCCL, with NCCL_DEBUG=INFO",
        cause: "NCCL runs over TCP. On a node with an RDMA fabric, a line before this one names the reason.",
        fix: "Read the lines NET/IB and NET/Plugin before this line. If you also set NCCL_NET=IB, NCCL stops with an error instead of using TCP.",
        rules: &["FAB401", "FAB413", "FAB601"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["GPU Direct RDMA Disabled for HCA"],
        meaning: Meaning::Reason,
        from: "NCCL, with NCCL_DEBUG=INFO",
        cause: "Data between GPU and NIC passes through host memory: the module nvidia_peermem or DMA-BUF support is missing, or GPU \
                and NIC are too far apart for NCCL_NET_GDR_LEVEL.",
        fix: "Load nvidia_peermem on the node, or use a driver and kernel with DMA-BUF. Remove NCCL_NET_GDR_LEVEL if it is set.",
        rules: &["FAB416"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["Call to ibv_reg_mr", "failed"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "NCCL cannot register memory with the NIC. With errno 12 (Cannot allocate memory) the limit of locked memory is too \
                low: NCCL pins its buffers. Pods often have 8 MiB or 64 KiB.",
        fix: "Add capability IPC_LOCK to a container that runs as root. For other users, raise LimitMEMLOCK of the container runtime: \
              IPC_LOCK has no effect for them.",
        rules: &["FAB502", "FAB503", "FAB507"],
        source: "NVIDIA/nccl-tests issue 206; NVIDIA/nvidia-container-toolkit issue 2037",
    },
    KnownLine {
        fragments: &["Call to ibv_create_cq", "failed"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "NCCL cannot create a completion queue. With errno 12 (Cannot allocate memory) the limit of locked memory is too low.",
        fix: "Add capability IPC_LOCK to a container that runs as root, or raise LimitMEMLOCK of the container runtime.",
        rules: &["FAB502", "FAB507"],
        source: "NVIDIA/nccl-tests issue 206",
    },
    KnownLine {
        fragments: &["Call to ibv_create_qp", "failed"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "NCCL cannot create a queue pair. With errno 12 (Cannot allocate memory) the limit of locked memory is too low.",
        fix: "Add capability IPC_LOCK to a container that runs as root, or raise LimitMEMLOCK of the container runtime.",
        rules: &["FAB502", "FAB507"],
        source: "NVIDIA/nccl-tests issue 206",
    },
    KnownLine {
        fragments: &["Unable to register memory", "RC", "-12"],
        meaning: Meaning::Failure,
        from: "aws-ofi-nccl",
        cause: "The limit of locked memory is too low for the EFA provider.",
        fix: "Add capability IPC_LOCK to a container that runs as root, or raise LimitMEMLOCK of the container runtime.",
        rules: &["FAB507"],
        source: "NVIDIA/nccl issue 563",
    },
    KnownLine {
        fragments: &["set max locked memory (ulimit -l)"],
        meaning: Meaning::Failure,
        from: "UCX",
        cause: "UCX cannot register memory, because the limit of locked memory is too low.",
        fix: "Add capability IPC_LOCK to a container that runs as root, or raise LimitMEMLOCK of the container runtime.",
        rules: &["FAB502", "FAB507"],
        source: "openucx/ucx, message of ibv_reg_mr",
    },
    KnownLine {
        fragments: &["failed to extend /dev/shm/nccl-"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "/dev/shm is full. Without a volume it has the 64 MiB of the container runtime.",
        fix: "Mount an emptyDir with medium: Memory at /dev/shm, with a sizeLimit of 8Gi per accelerator.",
        rules: &["FAB501", "FAB505"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["no socket interface found"],
        meaning: Meaning::Failure,
        from: "NCCL, bootstrap",
        cause: "NCCL_SOCKET_IFNAME matches no interface of the pod.",
        fix: "Set NCCL_SOCKET_IFNAME to an interface that every pod of the job has and can reach, usually eth0, or remove the variable.",
        rules: &["FAB411", "FAB415"],
        source: "NVIDIA/nccl, src/bootstrap.cc",
    },
    KnownLine {
        fragments: &["exceeded error retry count"],
        meaning: Meaning::Failure,
        from: "NCCL, bootstrap",
        cause: "A rank cannot open a TCP connection to another rank. The interface of the bootstrap has no route between the nodes, or a NetworkPolicy or a service mesh blocks the connection.",
        fix: "Set NCCL_SOCKET_IFNAME to the interface of the cluster network, usually eth0, and allow TCP between the pods of the job.",
        rules: &["FAB415"],
        source: "NVIDIA/nccl, src/misc/socket.cc",
    },
    KnownLine {
        fragments: &["socketStartConnect: Connect to", "failed"],
        meaning: Meaning::Failure,
        from: "NCCL, bootstrap and TCP sockets",
        cause: "A rank cannot open a TCP connection to another rank: that rank has ended, its address is not reachable on this interface, or a NetworkPolicy or a service mesh blocks the connection.",
        fix: "Look for an earlier error of the other rank. Set NCCL_SOCKET_IFNAME to the interface of the cluster network, usually eth0, and allow TCP between the pods of the job.",
        rules: &["FAB415", "FAB703"],
        source: "NVIDIA/nccl, src/misc/socket.cc (socketStartConnect)",
    },
    KnownLine {
        fragments: &["ncclIbRoceGetVersionNum"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "NCCL cannot read the RoCE version of a GID: the device has no usable GID at this index in the pod.",
        fix: "Give the network addresses, so that the device gets a RoCE v2 GID. Remove NCCL_IB_GID_INDEX if it is set.",
        rules: &["FAB132", "FAB414"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["ibv_modify_qp failed with"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "A queue pair cannot reach its peer. Errors 22 and 19 usually mean a wrong or missing GID. Error 110 means that the \
                peer does not answer.",
        fix: "Remove NCCL_IB_GID_INDEX, check the addresses of the RoCE networks, and check that the rails of both nodes are connected.",
        rules: &["FAB132", "FAB414"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["Got completion from peer", "status=12"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "The peer did not acknowledge after all retries: a broken link, a rail that is not routed, or a congested fabric \
                without flow control.",
        fix: "Check the link and the switch of this rail, and test the two nodes with ib_write_bw.",
        rules: &[],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["incompatible devices"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "One rank has an InfiniBand device, but another rank has a RoCE device at the same position.",
        fix: "Run all pods of the job on one fabric: name one FabricProfile, or select the nodes of one fabric.",
        rules: &["FAB806", "FAB412"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["Detected mixed local Net device counts across ranks"],
        meaning: Meaning::Failure,
        from: "NCCL 2.30",
        cause: "Ranks of the job have different numbers of NICs.",
        fix: "Give all pods of the job the same networks and units, or one FabricProfile.",
        rules: &["FAB202"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["No eligible providers were found"],
        meaning: Meaning::Reason,
        from: "aws-ofi-nccl",
        cause: "libfabric finds no EFA device in the container. NCCL then uses TCP.",
        fix: "Request vpc.amazonaws.com/efa in the container, and remove variables that choose another provider.",
        rules: &["FAB601", "FAB602"],
        source: "aws/aws-ofi-nccl, with NCCL_DEBUG=INFO",
    },
    KnownLine {
        fragments: &["Could not find: libnccl-net.so"],
        meaning: Meaning::Harmless,
        from: "NCCL, with NCCL_DEBUG=INFO",
        cause: "This is not a failure: no network plugin is installed, and NCCL uses its own transports. Only EFA and the GPUDirect-TCPX \
                fabrics of Google need a plugin.",
        fix: "Ignore the line, unless the fabric needs a plugin: then install the plugin in the image.",
        rules: &["FAB601"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["Got completion from peer", "with error 12"],
        meaning: Meaning::Failure,
        from: "NCCL before 2.20",
        cause: "The peer did not acknowledge after all retries: a broken link, a rail that is not routed, or a congested fabric \
                without flow control.",
        fix: "Check the link and the switch of this rail, and test the two nodes with ib_write_bw.",
        rules: &[],
        source: "NVIDIA/nccl, src/transport/net_ib.cc, 2.18 and 2.19",
    },
    KnownLine {
        fragments: &["Count not open libibverbs.so.1"],
        meaning: Meaning::Reason,
        from: "NCCL 2.30, with NCCL_DEBUG=INFO",
        cause: "The image has no libibverbs, so NCCL cannot use RDMA and falls back to TCP. NCCL tries libibverbs.so first, so a line with only that name is not a failure.",
        fix: "Install libibverbs and the provider library of the NIC (Debian: libibverbs1, ibverbs-providers) in the image.",
        rules: &[],
        source: "NVIDIA/nccl, src/misc/ibvsymbols.cc, 2.30",
    },
    KnownLine {
        fragments: &["aws-ofi-nccl initialization failed"],
        meaning: Meaning::Reason,
        from: "aws-ofi-nccl",
        cause: "The plugin for EFA cannot start. NCCL then uses TCP, unless NCCL_NET names the plugin.",
        fix: "Read the lines NET/OFI before this line. Check that the container requests vpc.amazonaws.com/efa, and that the image has libfabric \
              of the EFA installer.",
        rules: &["FAB601", "FAB602"],
        source: "aws/aws-ofi-nccl issue 889",
    },
    KnownLine {
        fragments: &["Failed to initialize any NET plugin"],
        meaning: Meaning::Failure,
        from: "NCCL 2.27 and newer",
        cause: "No transport of NCCL can start. If NCCL_NET is set, the transport that it names is missing or finds no device.",
        fix: "Check NCCL_NET and NCCL_NET_PLUGIN against the plugins of the image, and request the RDMA resource in the container.",
        rules: &["FAB413", "FAB801"],
        source: "NVIDIA/nccl, src/plugin/net.cc, 2.27 to 2.30",
    },
    KnownLine {
        fragments: &["async fatal event"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "The NIC reported a fatal event: a reset, a removed device, or a broken queue.",
        fix: "Read the kernel log and the counters of this NIC on the node. Take the node out of service if the event repeats.",
        rules: &[],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["Got async", "event", "port error"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "The port of a NIC lost its link while the job ran.",
        fix: "Check the cable, the transceiver and the switch port.",
        rules: &[],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["GID table changed"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "An address was added to or removed from an interface of the NIC while the job ran. Connections that use a moved GID then fail.",
        fix: "Find what changes addresses on the node (a new pod on a shared NIC, DHCP, IPv6 autoconfiguration), and remove \
              NCCL_IB_GID_INDEX.",
        rules: &["FAB414"],
        source: "NVIDIA/nccl, src/transport/net_ib.cc, 2.28 to 2.30",
    },
    KnownLine {
        fragments: &["Failed to bind NVLink SHARP (NVLS) Multicast memory"],
        meaning: Meaning::Failure,
        from: "NCCL",
        cause: "NVLink SHARP cannot allocate multicast memory: the fabric manager, /dev/nvidia-caps or an IMEX channel is missing, or the \
                GPU is partitioned. In 2.27 and 2.28 NCCL continues without NVLS.",
        fix: "Check the fabric manager of the node. NCCL_NVLS_ENABLE=0 avoids the failure, but costs bandwidth.",
        rules: &[],
        source: "NVIDIA/nccl issues 1672 and 1562",
    },
    KnownLine {
        fragments: &["Unable to open device"],
        meaning: Meaning::Harmless,
        from: "NCCL",
        cause: "The node has this RDMA device, but the container did not get the device. In shared network namespace mode a container sees \
                all devices of the node in /sys.",
        fix: "Ignore the line if NCCL uses the devices of the pod. If NCCL finds no other device, request the RDMA resource.",
        rules: &["FAB202"],
        source: NCCL_SOURCE,
    },
    KnownLine {
        fragments: &["cannot find a network-attachment-definition"],
        meaning: Meaning::Elsewhere,
        from: "Multus, event NoNetworkFound",
        cause: "The network of annotation k8s.v1.cni.cncf.io/networks does not exist in the namespace where Multus looks. \
                This is the namespace before '/', or the pod's own namespace. The kubelet retries, and the pod stays in ContainerCreating.",
        fix: "Write NAMESPACE/NAME of the network, or create the network in this namespace.",
        rules: &["FAB106", "FAB801"],
        source: "k8snetworkplumbingwg/multus-cni, pkg/k8sclient/k8sclient.go",
    },
    KnownLine {
        fragments: &["failed to parse pod Network Attachment Selection Annotation JSON format"],
        meaning: Meaning::Elsewhere,
        from: "Multus",
        cause: "The networks annotation looks like JSON but is not an array of objects.",
        fix: "Write an array, such as '[{\"name\": \"rail\"}]', or names with commas without brackets, braces and quotes.",
        rules: &["FAB101"],
        source: "k8snetworkplumbingwg/multus-cni, pkg/k8sclient/k8sclient.go",
    },
    KnownLine {
        fragments: &["UnexpectedAdmissionError"],
        meaning: Meaning::Elsewhere,
        from: "kubelet, reason of a failed pod",
        cause: "The kubelet could not allocate the pod's devices, often because the device plugin restarted or has fewer healthy devices \
                than the scheduler counted. The kubelet does not retry this pod.",
        fix: "Delete the pod, so that its controller creates another one. If this repeats, check the device plugin on the node and \
              compare its devices with the node's allocatable resources.",
        rules: &[],
        source: "kubernetes/kubernetes, pkg/kubelet: \"Allocate failed due to …, which is unexpected\"",
    },
    KnownLine {
        fragments: &["failed calling webhook", "x509: certificate"],
        meaning: Meaning::Elsewhere,
        from: "API server",
        cause: "The API server does not trust the certificate of the webhook: it has expired, has another name, or its CA is not in the \
                caBundle of the webhook configuration.",
        fix: "Check who changed caBundle (GitOps tools and kubectl apply can overwrite it), and that a replica of the server is ready. \
              fabric-admission probe tests the call.",
        rules: &[],
        source: WEBHOOK_SOURCE,
    },
    KnownLine {
        fragments: &["failed calling webhook", "context deadline exceeded"],
        meaning: Meaning::Elsewhere,
        from: "API server",
        cause: "The webhook did not answer in time. Often a firewall between control plane and nodes drops the connection: private \
                clusters allow only some ports.",
        fix: "Allow the control plane to reach the target port of the Service, and check that NetworkPolicies admit the connection.",
        rules: &[],
        source: WEBHOOK_SOURCE,
    },
    KnownLine {
        fragments: &["failed calling webhook", "connection refused"],
        meaning: Meaning::Elsewhere,
        from: "API server",
        cause: "No process listens at the address of the webhook's Service.",
        fix: "Check that the pods of the server are ready and that the Service has their port.",
        rules: &[],
        source: WEBHOOK_SOURCE,
    },
    KnownLine {
        fragments: &["add operation does not apply", "doc is missing path"],
        meaning: Meaning::Elsewhere,
        from: "API server",
        cause: "A patch of a mutating webhook does not fit the pod. The API server refuses the pod, and failurePolicy: Ignore does \
                not prevent this. The error names no webhook.",
        fix: "Annotate the pod with fabric-admission.dev/inject: \"false\". If the pod is then created, report the pod as a bug of fabric-admission; otherwise another webhook sends the patch.",
        rules: &[],
        source: WEBHOOK_SOURCE,
    },
];

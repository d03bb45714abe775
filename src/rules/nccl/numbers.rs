//! Variables that NCCL and RCCL read as numbers. Words are not understood: anything that does not start with a
//! number reads as 0 (NVIDIA/nccl 2.30.7 src/misc/param.cc; the tables of ROCm/rccl 2.21.5).

/// How a numeric variable acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// Any number counts.
    Any,
    /// Acts on exactly 1 and on nothing else.
    OnlyOne,
}

/// How NCCL reads a variable, if it reads it as a number.
#[must_use]
pub fn number(name: &str) -> Option<Number> {
    let name = name.strip_prefix("NCCL_").or_else(|| name.strip_prefix("RCCL_").map(|_| name))?;
    if ONLY_ONE.binary_search(&name).is_ok() {
        Some(Number::OnlyOne)
    } else {
        ANY.binary_search(&name).is_ok().then_some(Number::Any)
    }
}

/// Every name of the tables, with its prefix.
pub fn names() -> impl Iterator<Item = String> {
    ANY.iter()
        .chain(ONLY_ONE)
        .map(|n| if n.starts_with("RCCL_") { (*n).to_owned() } else { format!("NCCL_{n}") })
}

/// What C's `strtoll` with automatic base makes of a text, as NCCL uses it: the leading number, 0 for none.
pub(super) fn leading_number(text: &str) -> i64 {
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (radix, digits) = match hex.filter(|h| h.starts_with(|c: char| c.is_ascii_hexdigit())) {
        Some(hex) => (16, hex),
        None if digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    let value = digits
        .chars()
        .map_while(|c| c.to_digit(radix))
        .fold(0_i64, |n, d| n.saturating_mul(i64::from(radix)).saturating_add(i64::from(d)));
    if negative { value.saturating_neg() } else { value }
}

/// Whether NCCL reads a variable as a number and a value does not start with one.
#[must_use]
pub fn is_word_for_number(name: &str, value: &str) -> bool {
    number(name).is_some() && is_word(value)
}

/// Whether a value starts with something else than a number. An empty value means the default, and a
/// reference or placeholder is not known yet.
pub(super) fn is_word(value: &str) -> bool {
    let text = value.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !text.is_empty() && !value.contains(['$', '{']) && !digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Names without `NCCL_`; `RCCL_` names in full. Sorted.
#[rustfmt::skip]
const ANY: &[&str] = &[
    "ALLGATHERV_ENABLE", "ALLOC_P2P_NET_LL_BUFFERS", "BUFFSIZE", "CGA_CLUSTER_SIZE", "CHECK_POINTERS",
    "CHUNK_SIZE", "COLLNET_ENABLE", "COLLNET_NODE_THRESHOLD", "COMM_BLOCKING",
    "COMM_SHRINK_SHARE_RESOURCES", "COMM_SPLIT_SHARE_RESOURCES", "CONNECT_ROUND_MAX_PEERS", "CROSS_NIC",
    "CUMEM_ENABLE", "CUMEM_HOST_ENABLE", "DEV_API_JIT", "DISABLE_MEM_MANAGER", "DMABUF_ENABLE",
    "ELASTIC_BUFFER_REGISTER", "ENABLE_VERSION_CHECK", "GDAKI_USE_RELIABLE_DB", "GDRCOPY_ENABLE",
    "GDRCOPY_FIFO_ENABLE", "GDRCOPY_FLUSH_ENABLE", "GDRCOPY_SYNC_ENABLE", "GDR_FLUSH_DISABLE", "GIN_ENABLE",
    "GIN_ERROR_QUERY_SEC", "GIN_GDAKI_MAX_DEST_RD_ATOMIC", "GIN_GDAKI_MAX_QP_RD_ATOMIC",
    "GIN_GDAKI_NIC_HANDLER", "GIN_GDAKI_QP_DEPTH", "GIN_IB_TC", "GIN_NCONNECTIONS", "GIN_PLUGIN_REF_COUNT",
    "GIN_PROXY_QUEUE_SIZE", "GIN_TYPE", "GRAPH_DUMP_FILE_RANK", "GRAPH_HELPER_DISABLE",
    "GRAPH_MIXING_SUPPORT", "GRAPH_REGISTER", "GRAPH_STREAM_ORDERING", "GROUP_CUDA_STREAM",
    "IB_ADAPTIVE_ROUTING", "IB_AR_THRESHOLD", "IB_DATA_DIRECT", "IB_DEVICE_PCI_ORDER", "IB_DISABLE",
    "IB_ECE_ENABLE", "IB_FIFO_TC", "IB_GID_INDEX", "IB_MERGE_NICS", "IB_MERGE_VFS", "IB_MQP_RETRY_ALL",
    "IB_MQP_RETRY_CNT", "IB_MQP_RETRY_SLEEP_MSEC", "IB_OOO_RQ", "IB_PCI_RELAXED_ORDERING", "IB_PKEY",
    "IB_PREPOST_RECEIVE_WORK_REQUESTS", "IB_QPS_PER_CONNECTION", "IB_QUERY_PORT_SPEED",
    "IB_RECEIVER_SIDE_MATCHING_SCHEME", "IB_RESILIENCY_PORT_FAILOVER",
    "IB_RESILIENCY_PORT_FAILOVER_MAX_ATTEMPTS", "IB_RESILIENCY_PORT_FAILOVER_PROBE_DELAY",
    "IB_RESILIENCY_PORT_RECOVERY", "IB_RESILIENCY_PORT_RECOVERY_ACK_TIMEOUT",
    "IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_INTERVAL",
    "IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_SIZE",
    "IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_SEQUENCE_SIZE", "IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_TIMEOUT",
    "IB_RESILIENCY_PORT_RECOVERY_ATTEMPTS_MAX", "IB_RESILIENCY_PORT_RECOVERY_START_DELAY", "IB_RETRY_CNT",
    "IB_RETURN_ASYNC_EVENTS", "IB_ROCE_VERSION_NUM", "IB_ROUTABLE_FLID_GID_INDEX", "IB_SL",
    "IB_SPLIT_DATA_ON_QPS", "IB_SUBNET_AWARE_ROUTING", "IB_SUBNET_PREFIX_LEN", "IB_TC", "IB_TIMEOUT",
    "IB_USE_INLINE", "IB_WARN_RAIL_LOCAL", "IGNORE_COLLNET_MISMATCH", "IGNORE_CPU_AFFINITY",
    "IGNORE_DISABLED_P2P", "IGNORE_NET_MISMATCH", "IPC_USE_ABSTRACT_SOCKET", "L1_SHARED_MEMORY_CARVEOUT",
    "LAUNCH_ORDER_IMPLICIT", "LAUNCH_RACE_FATAL", "LEGACY_CUDA_REGISTER", "LL128_BUFFSIZE", "LL128_C2C",
    "LL128_NTHREADS", "LL_BUFFSIZE", "LOCAL_REGISTER", "LSA_TEAM_SIZE", "MAX_CTAS", "MAX_NCHANNELS",
    "MAX_NRINGS", "MAX_P2P_NCHANNELS", "MEM_SYNC_DOMAIN", "MIN_CTAS", "MIN_NCHANNELS", "MIN_NRINGS",
    "MIN_P2P_NCHANNELS", "MLOPART_RDMA_ENABLE", "MNNVL_CLIQUE_ID", "MNNVL_CROSS_CLIQUE", "MNNVL_ENABLE",
    "MNNVL_RAIL_PER_HOST", "MNNVL_SCATTER_NETS_ENABLE", "MNNVL_UUID", "MULTI_RANK_GPU_ENABLE",
    "MULTI_SEGMENT_REGISTER", "NCHANNELS_PER_NET_PEER", "NET_DISABLE_INTRA", "NET_FORCE_FLUSH",
    "NET_GDR_C2C", "NET_GDR_MLOPART", "NET_GDR_READ", "NET_OPTIONAL_RECV_COMPLETION", "NET_OVERHEAD",
    "NET_PLUGIN_REF_COUNT", "NET_SHARED_BUFFERS", "NET_SHARED_COMMS", "NSOCKS_PERTHREAD", "NTHREADS",
    "NUM_RMA_CTX", "NVB_DISABLE", "NVB_PRECONNECT", "NVLINK_UTIL_CENTRIC_SCHED_ENABLE",
    "NVLSTREE_MAX_CHUNKSIZE", "NVLS_CHUNKSIZE", "NVLS_ENABLE", "NVLS_NCHANNELS", "NVTX_DISABLE",
    "OOB_NET_ENABLE", "P2P_DIRECT_DISABLE", "P2P_EPOCH_ENABLE", "P2P_LL_THRESHOLD", "P2P_MAX_PEERS",
    "P2P_NET_CHUNKSIZE", "P2P_NVL_CHUNKSIZE", "P2P_PCI_CHUNKSIZE", "P2P_PER_CHANNEL_NET_BW",
    "P2P_PXN_LEVEL", "P2P_READ_ENABLE", "P2P_SCHEDULE_GROUP_SIZE", "P2P_USE_CUDA_MEMCPY", "PAT_ENABLE",
    "PROGRESS_APPENDOP_FREQ", "PROXY_APPEND_BATCH_SIZE", "PROXY_DUMP_SIGNAL", "PXN_C2C", "PXN_DISABLE",
    "RAS_ENABLE", "RAS_TIMEOUT_FACTOR", "RCCL_CLIQUE_ALLREDUCE_BYTE_LIMIT",
    "RCCL_CLIQUE_ALLREDUCE_NCHANNELS", "RCCL_CLIQUE_IGNORE_TOPO", "RCCL_ENABLE_CLIQUE",
    "RCCL_ENABLE_INTRANET", "RCCL_ENABLE_SIGNALHANDLER", "RCCL_FORCE_ENABLE_GDRDMA",
    "RCCL_INTRANET_THRESHOLD", "RCCL_KERNEL_COLL_TRACE_ENABLE", "RCCL_LL128_FORCE_ENABLE",
    "RCCL_MODEL_MATCHING_DISABLE", "RCCL_MSCCLPP_ENABLE", "RCCL_MSCCLPP_THRESHOLD", "RCCL_MSCCL_ENABLE",
    "RCCL_MSCCL_ENABLE_SINGLE_PROCESS", "RCCL_MSCCL_FORCE_ENABLE", "RCCL_MSCCL_FORCE_FULLOPS",
    "RCCL_MSCCL_WORK_FIFO_DEPTH", "RCCL_NET_CONTIGUOUS_MEM", "RCCL_P2P_NET_DISABLE",
    "RCCL_P2P_NET_THRESHOLD", "RCCL_PIVOT_ALLTOALL_ENABLE", "RCCL_STACK_SIZE_OVERRIDE",
    "RCCL_USE_ROCM_SMI_LIB", "REPORT_CONNECT_PROGRESS", "RMA_DISABLE", "RMA_PLUGIN_REF_COUNT",
    "RMA_PROXY_DUMP_SIGNAL", "RMA_PROXY_QUEUE_SIZE", "RUNTIME_CONNECT", "SET_CPU_STACK_SIZE",
    "SET_STACK_SIZE", "SHADOW_MEMPOOL_MAX_SIZE", "SHM_LOCALITY", "SINGLE_PROC_MEM_REG_ENABLE",
    "SOCKET_INLINE", "SOCKET_MIN_TASKSIZE", "SOCKET_NTHREADS", "SOCKET_POLL_TIMEOUT_MSEC", "SOCKET_RCVBUF",
    "SOCKET_RETRY_CNT", "SOCKET_RETRY_SLEEP_MSEC", "SOCKET_SNDBUF", "SYM_CE_THRESHOLD", "SYM_CTAS",
    "SYM_GIN_KERNELS_ENABLE", "SYM_NOWIN_ENABLE", "SYM_REUSE_SYSMEM_HANDLES", "SYM_RS_GIN_CHUNK_SIZE",
    "SYM_TMA_ENABLE", "TOPO_DUMP_FILE_RANK", "TOPO_SPLIT_MLOPART", "UID_STAGGER_RATE",
    "UID_STAGGER_THRESHOLD", "UNPACK_DOUBLE_NCHANNELS", "WIN_ENABLE", "WIN_STRIDE", "WORK_ARGS_BYTES",
    "WORK_FIFO_BYTES",
];

/// Names without `NCCL_` that act on exactly 1. Sorted.
#[rustfmt::skip]
const ONLY_ONE: &[&str] = &[
    "P2P_DISABLE", "SHM_DISABLE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(ANY.is_sorted() && ONLY_ONE.is_sorted());
    }

    #[test]
    fn knows_numbers() {
        assert_eq!(number("NCCL_IB_DISABLE"), Some(Number::Any));
        assert_eq!(number("NCCL_P2P_DISABLE"), Some(Number::OnlyOne));
        assert_eq!(number("NCCL_IB_HCA"), None);
        assert_eq!(number("IB_DISABLE"), None);
    }

    #[test]
    fn numbers_as_strtoll_reads_them() {
        for (text, value) in [
            ("1", 1),
            ("0", 0),
            ("true", 0),
            ("010", 8),
            ("0x29", 41),
            ("5,6", 5),
            ("", 0),
            (" 7", 7),
            ("-1", -1),
            ("0x", 0),
            ("+3", 3),
        ] {
            assert_eq!(leading_number(text), value, "{text:?}");
        }
    }

    #[test]
    fn words() {
        assert!(is_word("true") && is_word("auto") && is_word("-x"));
        assert!(
            !is_word("")
                && !is_word("1")
                && !is_word("0x1")
                && !is_word("-1")
                && !is_word("$(N)")
                && !is_word("${N}")
        );
    }
}

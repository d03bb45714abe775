//! FAB701: NCCL variable with different values on the ranks of one job.

use super::do_replica_types_make_one_world::do_replica_types_make_one_world;
use crate::plan::pod_with_plan::Variable;
use crate::pod::limits_and_costs_of_pods::has_long_commands;
use crate::pod::pod_fields::Container;
use crate::pod::shell::{all_assigned_names, sources_file};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::{FoundAboutTemplate, WorkloadContext};
use crate::text::escaped_and_cut;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB701",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

/// Variables that must be equal on all ranks, and NCCL's default, which counts where a rank has none.
const VARIABLES_EQUAL_ON_ALL_RANKS: &[(&str, Option<&str>)] = &[
    ("NCCL_ALGO", None),
    ("NCCL_BUFFSIZE", None),
    ("NCCL_CHUNK_SIZE", None),
    ("NCCL_COLLNET_ENABLE", None),
    ("NCCL_CROSS_NIC", Some("2")),
    ("NCCL_CTA_POLICY", None),
    ("NCCL_CUMEM_ENABLE", None),
    ("NCCL_IB_ADDR_FAMILY", Some("AF_INET")),
    ("NCCL_IB_DISABLE", Some("0")),
    ("NCCL_IB_MERGE_NICS", Some("1")),
    ("NCCL_IB_QPS_PER_CONNECTION", Some("1")),
    ("NCCL_IB_ROCE_VERSION_NUM", Some("2")),
    ("NCCL_IB_SL", None),
    ("NCCL_IB_SPLIT_DATA_ON_QPS", Some("0")),
    ("NCCL_IB_TC", None),
    ("NCCL_LL128_BUFFSIZE", None),
    ("NCCL_LL_BUFFSIZE", None),
    ("NCCL_MAX_CTAS", None),
    ("NCCL_MAX_NCHANNELS", None),
    ("NCCL_MIN_CTAS", None),
    ("NCCL_MIN_NCHANNELS", None),
    ("NCCL_MNNVL_ENABLE", Some("2")),
    ("NCCL_NCHANNELS_PER_NET_PEER", None),
    ("NCCL_NET", None),
    ("NCCL_NETDEVS_POLICY", None),
    ("NCCL_NET_GDR_LEVEL", None),
    ("NCCL_NET_PLUGIN", None),
    ("NCCL_NTHREADS", None),
    ("NCCL_NVLSTREE_MAX_CHUNKSIZE", None),
    ("NCCL_NVLS_CHUNKSIZE", Some("131072")),
    ("NCCL_NVLS_ENABLE", Some("2")),
    ("NCCL_OOB_NET_ENABLE", None),
    ("NCCL_P2P_NET_CHUNKSIZE", Some("131072")),
    ("NCCL_P2P_SCHEDULE_GROUP_SIZE", None),
    ("NCCL_PAT_ENABLE", Some("2")),
    ("NCCL_PROTO", None),
    ("NCCL_RUNTIME_CONNECT", Some("1")),
    ("NCCL_SOCKET_FAMILY", None),
    ("NCCL_SOCKET_MAGIC", None),
    ("NCCL_WIN_ENABLE", None),
];

fn check(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.templates.len() < 2 || !do_replica_types_make_one_world(context) {
        return;
    }
    let mut roles =
        context.templates_in_scope().filter_map(|(t, asked)| Some((t, ContainerOfRanks::of(asked)?)));
    let Some((first, first_ranks)) = roles.next() else { return };
    // Read once, not once for each replica type.
    let shared: Vec<_> = VARIABLES_EQUAL_ON_ALL_RANKS
        .iter()
        .map(|(name, default)| (*name, *default, first_ranks.given(name)))
        .collect();
    for (template, ranks) in roles.take_while(|_| !context.deadline.is_over()) {
        if findings.must_stop_reporting() {
            return;
        }
        let (index, container) = (ranks.index, ranks.container);
        for (name, default, there) in &shared {
            let here = ranks.given(name);
            let words = |given: &ValueOnRank<'_>| match given {
                ValueOnRank::Value(value) => escaped_and_cut(value, 40),
                _ => "unset".to_owned(),
            };
            let differs = match (&here, there) {
                (ValueOnRank::Unknown, _)
                | (_, ValueOnRank::Unknown)
                | (ValueOnRank::Absent, ValueOnRank::Absent) => false,
                (ValueOnRank::Value(a), ValueOnRank::Value(b)) => a != b,
                // A default that depends on the version or the machine is not compared.
                (ValueOnRank::Value(value), ValueOnRank::Absent)
                | (ValueOnRank::Absent, ValueOnRank::Value(value)) => {
                    default.is_some_and(|default| *value != default)
                }
            };
            if differs {
                let at = match container.last_entry_of_variable(name) {
                    Some((nth, _)) => format!("/env/{nth}"),
                    None => String::new(),
                };
                findings.add(
                    format!("{}/spec/containers/{index}{at}", template.pointer),
                    format!(
                        "{name} is {} in {:?} but {} in {:?}: the job can hang, because all ranks need the same value",
                        words(there),
                        escaped_and_cut(first.role_or_pointer(), 63),
                        words(&here),
                        escaped_and_cut(template.role_or_pointer(), 63)
                    ),
                    format!("Set {name} to the same value in both pod templates, or remove it from both."),
                );
            }
        }
    }
}

/// Whether a variable is one that all ranks share. Their names are in order.
fn must_be_equal_on_all_ranks(name: &str) -> bool {
    name.starts_with("NCCL_")
        && VARIABLES_EQUAL_ON_ALL_RANKS.binary_search_by_key(&name, |(shared, _)| shared).is_ok()
}

/// A variable as one replica type has it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ValueOnRank<'a> {
    Value(&'a str),
    Absent,
    /// Taken from elsewhere, or set in shell text.
    Unknown,
}

/// The first container with accelerators, which runs the ranks.
struct ContainerOfRanks<'a> {
    asked: FoundAboutTemplate<'a>,
    index: usize,
    container: &'a Container<'a>,
    /// Variables that its shell text sets. The text is read once, not once for each variable.
    set: HashSet<&'a str>,
    /// Whether a script may set anything.
    opaque: bool,
}

impl<'a> ContainerOfRanks<'a> {
    fn of(asked: FoundAboutTemplate<'a>) -> Option<Self> {
        let mut containers = asked.overlay.pod_before_plan().containers().iter().enumerate();
        let (index, container) =
            containers.find(|(index, _)| asked.subject.demands.of_app_container(*index).any)?;
        let long = has_long_commands(asked.overlay.pod_before_plan());
        let texts = container.command_and_argument_words().filter(|_| !long);
        let set =
            texts.flat_map(all_assigned_names).filter(|name| must_be_equal_on_all_ranks(name)).collect();
        let opaque = long
            || container.env_from.as_ref().is_some_and(|sources| !sources.is_empty())
            || container.command_and_argument_words().any(|text| sources_file(text) || text.contains("nccl"));
        Some(Self { asked, index, container, set, opaque })
    }

    fn given(&self, name: &str) -> ValueOnRank<'a> {
        if self.set.contains(name) {
            return ValueOnRank::Unknown;
        }
        match self.asked.overlay.variable(self.index, self.container, name) {
            Some(Variable::Value(value)) => ValueOnRank::Value(value.trim()),
            Some(Variable::Unknown) => ValueOnRank::Unknown,
            None if self.opaque => ValueOnRank::Unknown,
            None => ValueOnRank::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VARIABLES_EQUAL_ON_ALL_RANKS;
    use crate::nccl::variable_table;

    #[test]
    fn the_list_is_the_tables() {
        let listed = |name: &str| VARIABLES_EQUAL_ON_ALL_RANKS.iter().any(|(shared, _)| *shared == name);
        let uniform =
            variable_table::all_variables().filter(|v| v.uniform == Some(true) && v.family == "nccl");
        let missing: Vec<&str> = uniform.map(|v| v.name).filter(|name| !listed(name)).collect();
        // Other rules report these two wherever they are set (FAB420, FAB416).
        assert_eq!(missing, ["NCCL_COMM_ID", "NCCL_GRAPH_FILE"]);
        for (name, _) in VARIABLES_EQUAL_ON_ALL_RANKS {
            assert_eq!(variable_table::find_variable(name).and_then(|v| v.uniform), Some(true), "{name}");
            assert!(super::must_be_equal_on_all_ranks(name), "{name} is out of order");
        }
    }
}

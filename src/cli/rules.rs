//! `rules list` and `rules export`.

use super::Exit;
use crate::cli::lines_on_stderr::write_error;
use crate::cli::pretty_json::write_pretty_json;
use crate::facts::EnforcementMode;
use crate::manifest::to_yaml;
use crate::multus::is_dns_label;
use crate::pod::AcceleratorNames;
use crate::report::policies_against_foreign_networks::network_isolation_policies;
use crate::report::policies_of_rules_in_cel::{PolicyOptions, policies_and_bindings_of_rules};
use crate::report::policies_on_who_sets_our_labels::policies_on_who_sets_our_labels;
use crate::rules::{self, RULES, Rule};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List all rules
    List {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Export rules as ValidatingAdmissionPolicies, which the API server evaluates without the webhook. Only rules
    /// that check a single object can be exported
    Export(Export),
}

#[derive(Debug, clap::Args)]
struct Export {
    /// Id of a rule to export, such as FAB301; repeatable; default: all rules that can be exported
    #[arg(long = "rule", value_name = "ID")]
    rules: Vec<String>,
    /// Group whose members may set the mode label of namespaces and choose FabricProfiles; repeatable. The exported
    /// policies do not let users outside the listed groups set the label or choose FabricProfiles
    #[arg(long = "group", value_name = "GROUP", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    groups: Vec<String>,
    /// Add a policy that lets a pod use only networks in its own namespace, in namespace "default" and in the
    /// namespaces of --open-namespace. The policy also checks changes of a pod's annotations
    #[arg(long)]
    namespace_isolation: bool,
    /// Namespace whose networks every pod may use, for --namespace-isolation; repeatable
    #[arg(long = "open-namespace", value_name = "NAMESPACE", requires = "namespace_isolation", value_parser = namespace)]
    open_namespaces: Vec<String>,
    /// What the exported policies do with errors in network objects: warn (audit) or deny (enforce). Give the same
    /// value as for the server (fabric-admission serve --network-objects)
    #[arg(long, value_enum, default_value_t = NetworkObjectsArgument::Audit)]
    network_objects: NetworkObjectsArgument,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = ExportFormat::Yaml)]
    output: ExportFormat,
}

fn namespace(text: &str) -> Result<String, String> {
    if is_dns_label(text) { Ok(text.to_owned()) } else { Err("expected the name of a namespace".to_owned()) }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum NetworkObjectsArgument {
    Audit,
    Enforce,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExportFormat {
    Yaml,
    /// One object of kind List
    Json,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    /// Markdown, as in docs/rules.md
    Markdown,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let output = match &arguments.command {
        Command::List { output } => *output,
        Command::Export(arguments) => return write_exported_policies(arguments, out, err),
    };
    match output {
        Format::Text => {
            for rule in RULES.iter() {
                writeln!(out, "{}  {:<8} {}", rule.id, rule.severity.to_string(), rule.page().summary)?;
            }
        }
        Format::Json => {
            let list: Vec<_> = RULES
                .iter()
                .map(|rule| (rule, rule.page()))
                .map(|(rule, page)| json!({"id": rule.id, "severity": rule.severity, "group": rule.group(), "summary": page.summary, "since": rule.since, "catalogue": page.catalogue}))
                .collect();
            write_pretty_json(out, &list)?;
        }
        Format::Markdown => write!(out, "{}", crate::report::docs_page_of_rules::page())?,
    }
    Ok(Exit::Clean)
}

fn write_exported_policies(arguments: &Export, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let mut chosen: Vec<&Rule> = Vec::new();
    for id in &arguments.rules {
        match rules::find_rule(id) {
            Some(rule) if rule.cel().is_some() => chosen.push(rule),
            Some(rule) => {
                let id = rule.id;
                write_error(
                    err,
                    format_args!(
                        "rule {id} cannot be exported, because the rule checks more than one object"
                    ),
                )?;
                return Ok(Exit::Usage);
            }
            None => {
                write_error(
                    err,
                    format_args!("unknown rule {id:?}. To list all rules, run fabric-admission rules list."),
                )?;
                return Ok(Exit::Usage);
            }
        }
    }
    if arguments.rules.is_empty() {
        chosen = RULES.clone();
    }
    let network_objects = match arguments.network_objects {
        NetworkObjectsArgument::Audit => EnforcementMode::Audit,
        NetworkObjectsArgument::Enforce => EnforcementMode::Enforce,
    };
    let accelerators = AcceleratorNames::default();
    let mut objects = policies_and_bindings_of_rules(
        &chosen,
        PolicyOptions { accelerators: &accelerators, network_objects },
    );
    if arguments.namespace_isolation {
        objects.extend(network_isolation_policies(&arguments.open_namespaces));
    }
    if !arguments.groups.is_empty() {
        objects.extend(policies_on_who_sets_our_labels(&arguments.groups));
    }
    match arguments.output {
        ExportFormat::Yaml => {
            for object in &objects {
                write!(out, "---\n{}", to_yaml(object))?;
            }
        }
        ExportFormat::Json => {
            let list: Value = json!({"apiVersion": "v1", "kind": "List", "items": objects});
            write_pretty_json(out, &list)?;
        }
    }
    Ok(Exit::Clean)
}

//! The command line of the bench.

use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Requests at a constant rate, with the connections of an API server: cargo bench --bench load -- [OPTIONS]

Lists are separated by commas. Every combination is measured, in interleaved rounds.
  --layer LIST       constant, constant-cores, parse, parse-cores, full (default: constant,parse,full); none
  --payload LIST     4k, 7.5k, 25k, 196k, 2.9M (default: 7.5k)
  --containers LIST  containers of the pod, instead of a payload
  --env LIST         variables of each container, with --containers (default: 40)
  --rate LIST        requests per second (default: 100); 0 measures an idle server
  --seconds N        duration of a round (default: 10)
  --requests N       at least so many requests in a round, however long that takes (default: 20)
  --rounds N         (default: 5)
  --burst N          so many requests at once, instead of a rate
  --connections N    most open connections (default: no limit)
  --relist           with --burst: the API server forgets its history, so that the server lists all nodes meanwhile
  --nodes LIST       nodes of 34 kB (default: 1000)
  --networks LIST    NetworkAttachmentDefinitions (default: 100)
  --profiles LIST    FabricProfiles (default: 16)
  --binary LIST      further builds of fabric-admission, each as a layer
  --against URL      any webhook, as a layer; with --ca FILE, and --against-pid PID for its CPU time
  --json FILE        the results, with a description of the machine
  --page NAME        puts the table into docs/performance.md, between the marks of this name
";

/// What is measured.
pub(crate) struct Options {
    pub(crate) layers: Vec<String>,
    pub(crate) payloads: Vec<String>,
    pub(crate) containers: Vec<usize>,
    pub(crate) env: Vec<usize>,
    pub(crate) rates: Vec<f64>,
    pub(crate) seconds: f64,
    pub(crate) requests: usize,
    pub(crate) rounds: usize,
    pub(crate) burst: Option<usize>,
    pub(crate) connections: Option<usize>,
    pub(crate) relist: bool,
    pub(crate) nodes: Vec<usize>,
    pub(crate) networks: Vec<usize>,
    pub(crate) profiles: Vec<usize>,
    pub(crate) binaries: Vec<PathBuf>,
    pub(crate) against: Option<String>,
    pub(crate) ca: PathBuf,
    pub(crate) against_pid: Option<u32>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) page: Option<String>,
}

impl Options {
    pub(crate) fn new(arguments: &[String]) -> Result<Self, String> {
        let given = Given(arguments);
        given.check()?;
        // Without cargo bench, as a test would run it: small.
        let bench = arguments.iter().any(|argument| argument == "--bench");
        let default = |full: &'static str, small: &'static str| if bench { full } else { small };
        Ok(Self {
            layers: given.list("--layer", default("constant,parse,full", "constant"))?,
            payloads: given.list("--payload", "7.5k")?,
            containers: given.list("--containers", "")?,
            env: given.list("--env", "40")?,
            rates: given.list("--rate", default("100", "50"))?,
            seconds: given.one("--seconds", default("10", "1"))?,
            requests: given.one("--requests", "20")?,
            rounds: given.one("--rounds", default("5", "1"))?,
            burst: given.list("--burst", "")?.first().copied(),
            connections: given.list("--connections", "")?.first().copied(),
            relist: arguments.iter().any(|argument| argument == "--relist"),
            nodes: given.list("--nodes", default("1000", "10"))?,
            networks: given.list("--networks", "100")?,
            profiles: given.list("--profiles", "16")?,
            binaries: given.list("--binary", "")?,
            against: given.list("--against", "")?.first().cloned(),
            ca: given.one("--ca", "ca.crt")?,
            against_pid: given.list("--against-pid", "")?.first().copied(),
            json: given.list("--json", "")?.first().cloned(),
            page: given.list("--page", "")?.first().cloned(),
        })
    }
}

struct Given<'a>(&'a [String]);

impl Given<'_> {
    /// Every option is one that the help names.
    fn check(&self) -> Result<(), String> {
        let known = |option: &str| HELP.split_whitespace().any(|word| word == option) || option == "--bench";
        let unknown = self.0.iter().find(|option| option.starts_with("--") && !known(option));
        unknown.map_or(Ok(()), |option| Err(format!("unknown option {option}\n\n{HELP}")))
    }

    fn list<T: std::str::FromStr>(&self, name: &str, default: &str) -> Result<Vec<T>, String> {
        let at = self.0.iter().position(|argument| argument == name);
        let text = match at {
            Some(at) => self.0.get(at + 1).ok_or_else(|| format!("{name} needs a value"))?,
            None => default,
        };
        let values = text.split(',').filter(|value| !value.is_empty() && *value != "none");
        values.map(|value| value.parse().map_err(|_| format!("{name}: {value} is not valid"))).collect()
    }

    fn one<T: std::str::FromStr>(&self, name: &str, default: &str) -> Result<T, String> {
        self.list(name, default)?.pop().ok_or_else(|| format!("{name} needs a value"))
    }
}

//! `scan`: the objects that a cluster has.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{anyhow, bail};
use clap::{Args, Command};
use gateward_cluster::{Connection, Contexts, ForeignObject, ObjectPages, ObjectPagesError};
use gateward_core::manifest::yaml;
use gateward_core::{Declaration, GroupVersionKind, ListQuery, Scope, UserInfo, terminal};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::check::report::counted;
use crate::check::subject::{meta, shown_name_of};
use crate::check::{Checker, Report, Schemas};
use crate::cli::check::{ending, for_people, readable, terminal_colour};
use crate::cli::facts::FactsOption;
use crate::cli::known_cluster::KnownCluster;
use crate::cli::manifests::Progress;
use crate::cli::output::Output;
use crate::exit::Exit;
use crate::operator::Operator;

/// Arguments of `scan`.
#[derive(Debug, Args)]
pub(crate) struct ScanArguments {
    /// Kinds to look at, by name or plural; all that the webhooks know unless some are named
    #[arg(value_name = "KIND")]
    kinds: Vec<String>,
    /// Namespace to look at; all of them unless one is named
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// Context of the kubeconfig that names the cluster
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Kubeconfig to use
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Who asks: a user, or `system:serviceaccount:<namespace>:<name>`
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,
    #[command(flatten)]
    facts: FactsOption,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) fn command() -> Command {
    ScanArguments::augment_args(Command::new("scan"))
        .about("Say what the webhooks would say about the objects that a cluster has")
        .long_about(
            "Say what the API server and the webhooks would say about the objects that a cluster has.\n\nEach object is \
             judged as an update that changes nothing, so this tells before an installation or an upgrade which \
             objects nobody could edit after it. Objects are read page by page in the newest version that is served; \
             nothing is written. Needs the right to list the kinds. CEL rules of the schema are not evaluated; a note \
             says so. Without --kubeconfig and --context, KUBECONFIG names the cluster, or it is the one that this \
             process runs in.",
        )
        .after_help(
            "Exit codes: 0 no error, 1 errors, 2 usage or internal error, or objects that can't be read.\n\nExamples:\n  \
             {command} scan\n  {command} scan --namespace team-a --output json\n  {command} scan --context production",
        )
}

pub(crate) async fn run<P: Operator>(operator: &P, arguments: &ScanArguments) -> anyhow::Result<Exit> {
    let kinds = chosen(operator.webhooks().declarations(), &arguments.kinds)?;
    let schemas = Schemas::read(&operator.crds())?;
    let connection = arguments.connection(&operator.names().user_agent()).await?;
    connection.verify().await?;
    let KnownCluster { facts, reader, .. } = KnownCluster::behind(&connection, &arguments.facts, operator).await?;
    let mut checker = Checker::new(operator.webhooks(), &schemas, facts, SystemTime::now());
    if let Some(reader) = reader {
        checker = checker.cluster(reader);
    }
    if let Some(username) = arguments.user.clone() {
        checker = checker.user(&UserInfo { username, ..UserInfo::default() });
    }
    let checker = checker.command(operator.names().command);
    checker.fill_stores([]).await;
    let mut scan = Scan {
        checker,
        output: arguments.output,
        report: Report::new(),
        progress: Progress::new(),
        troubles: Vec::new(),
    };
    for kind in &kinds {
        scan.scan(kind, &|version| ObjectPages::of(connection.client(), &arguments.query(kind, version))).await?;
    }
    scan.conclude(kinds.len())
}

impl ScanArguments {
    async fn connection(&self, user_agent: &str) -> anyhow::Result<Connection> {
        if self.kubeconfig.is_none() && self.context.is_none() {
            return Ok(Connection::connect(user_agent).await?);
        }
        let contexts = Contexts::read(self.kubeconfig.as_deref())?;
        Ok(contexts.connect(self.context.as_deref(), user_agent).await?.connection)
    }

    fn query(&self, kind: &Declaration, version: &str) -> ListQuery {
        ListQuery {
            group: kind.hub.group.clone(),
            version: version.to_owned(),
            plural: kind.plural.clone().into_owned(),
            namespace: self.namespace.clone().filter(|_| kind.scope == Scope::Namespaced),
            label_selector: String::new(),
        }
    }
}

/// The declared kinds that are named; each once, whatever entries and subresources it has.
fn chosen<'d>(
    declared: impl Iterator<Item = &'d Declaration>,
    named: &[String],
) -> anyhow::Result<Vec<&'d Declaration>> {
    let objects = declared.filter(|kind| kind.subresource.is_none() && kind.entry.is_none() && !kind.is_of_any_kind());
    let kinds: Vec<&Declaration> = objects.collect();
    let is = |kind: &Declaration, name: &str| {
        kind.hub.kind.eq_ignore_ascii_case(name) || kind.plural.eq_ignore_ascii_case(name)
    };
    if let Some(unknown) = named.iter().find(|name| !kinds.iter().any(|kind| is(kind, name))) {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.hub.kind.as_str()).collect();
        bail!("no webhook judges the kind {unknown:?}; there are {}", known.join(", "));
    }
    Ok(kinds.into_iter().filter(|kind| named.is_empty() || named.iter().any(|name| is(kind, name))).collect())
}

/// The objects of all kinds, one after the other.
struct Scan<'p> {
    checker: Checker<'p>,
    output: Output,
    report: Report,
    progress: Progress,
    /// What could not be looked at.
    troubles: Vec<anyhow::Error>,
}

impl Scan<'_> {
    /// Reads the objects in the newest version that is served: CRDs may be those of an older release.
    async fn scan(&mut self, kind: &Declaration, pages: &impl Fn(&str) -> ObjectPages) -> anyhow::Result<()> {
        for version in kind.versions.iter().rev() {
            let gvk = GroupVersionKind { version: version.clone().into_owned(), ..kind.hub.clone() };
            let mut pages = pages(version);
            loop {
                match pages.next_page().await {
                    Ok(Some(objects)) => self.page(&gvk, &objects).await?,
                    Ok(None) => return Ok(()),
                    Err(ObjectPagesError::NotServed) => break,
                    Err(why) => {
                        self.troubles.push(anyhow!("{} of {} can't be listed: {why}", gvk.kind, gvk.api_version()));
                        return Ok(());
                    }
                }
            }
        }
        self.troubles.push(anyhow!("the API server doesn't know {} of the group {}", kind.hub.kind, kind.hub.group));
        Ok(())
    }

    /// Judges the objects of a page, prints what was found, and forgets it: a cluster may have any number of them.
    async fn page(&mut self, gvk: &GroupVersionKind, objects: &[Box<RawValue>]) -> anyhow::Result<()> {
        for raw in objects {
            let object = ForeignObject::read(raw)?;
            let value = typed(object.value, gvk);
            let name = shown(&value);
            if let Some(member) = object.unread.first() {
                self.troubles.push(anyhow!("{name} can't be read: its {member} nests too deeply"));
                continue;
            }
            self.progress.tick(Path::new(&name));
            self.checker.check_stored(&name, yaml::document(&value).as_bytes(), &mut self.report).await?;
        }
        self.progress.clear();
        let printed = match self.output {
            Output::Json => readable(std::io::stdout().lock().write_all(self.report.json().as_bytes())),
            Output::Text => for_people(&self.report.findings(terminal_colour())),
        };
        self.report.forget_findings();
        Ok(printed?)
    }

    fn conclude(self, kinds: usize) -> anyhow::Result<Exit> {
        if self.output == Output::Text {
            let looked_at =
                format!("{} of {}", counted(self.report.counts().objects, "object"), counted(kinds, "kind"));
            for_people(&self.report.conclusion(&looked_at))?;
        }
        Ok(ending(&self.report, &self.troubles))
    }
}

/// The object with the two members that those of the API server's own kinds lack in a list.
fn typed(mut object: Value, gvk: &GroupVersionKind) -> Value {
    object["apiVersion"] = gvk.api_version().into();
    object["kind"] = gvk.kind.as_str().into();
    object
}

/// An object in place of a file: `team-a/DynamoModel/llama`.
fn shown(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default();
    let parts = [meta(object, "namespace"), kind, shown_name_of(object)];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    terminal::line(&parts.join("/")).into_owned()
}

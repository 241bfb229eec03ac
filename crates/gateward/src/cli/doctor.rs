//! `doctor`: what is wrong with a release in a cluster, or would be.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Command};
use gateward_cluster::Connection;
use gateward_cluster::preflight::{PreflightCheck, PreflightResult, PreflightState, preflight};
use gateward_core::terminal;
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::planned::planned;
use crate::cli::{known_values, values};
use crate::config::RemovedValue;
use crate::exit::Exit;
use crate::operator::{Operator, Release};

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Check before an upgrade
    #[arg(long)]
    preflight: bool,
    /// Values that the upgrade gets, as a file or - for standard input; a later file replaces what an earlier one says
    #[arg(long, short = 'f', value_name = "FILE")]
    values: Vec<PathBuf>,
    /// Name of the Helm release, where it isn't the usual one
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Namespace of the release, where it isn't the usual one
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) fn command() -> Command {
    DoctorArguments::augment_args(Command::new("doctor"))
        .about("Check a cluster before a release is installed or upgraded")
        .long_about(
            "Check a cluster before a release is installed or upgraded. Nothing is changed. KUBECONFIG names the \
             cluster.\n\nEach line is `ok`, `failed`, or `not provable yet`: what depends on Pods that don't run yet, or \
             on what you may not read. Checked are values that were removed or that the \
             chart doesn't have; whether the API server reaches the \
             webhook port, through its proxy for Services; the certificates of the mode that the values choose; webhook \
             configurations of others for the same kinds; and what the ServiceAccount of the Pods may do.\n\nValues are \
             those of the chart. Without --values, what depends on them is checked for the chart's defaults.",
        )
        .after_help(
            "Exit codes: 0 nothing failed; 1 something did, as printed; 2 the values could not be \
             read, or the cluster could not be asked.\n\nExamples:\n  \
             {command} doctor --preflight --release {release} --namespace {namespace} --values values.yaml\n  helm \
             get values {release} -n {namespace} -o yaml | {command} doctor --preflight -f -",
        )
}

pub(crate) async fn run<P: Operator>(operator: &P, arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    let (name, namespace) = (arguments.release.as_deref(), arguments.namespace.as_deref());
    let release = operator.names().release_or_usual(name, namespace);
    if !arguments.preflight {
        bail!(nothing_asked(operator.names().command, &release));
    }
    if name.is_none() || namespace.is_none() {
        note_release(&release)?;
    }
    let given = values::read(&arguments.values)?;
    let values = operator.chart_values(&release, &given);
    let judged = if arguments.values.is_empty() {
        without_values(&release)
    } else {
        [judge(&values.removed), judge_unknown(&known_values::unknown(operator, &given)?)].concat()
    };
    let planned = planned(operator, &release, values)?;
    let connection = Connection::connect(&operator.names().user_agent()).await?;
    connection.verify().await?;
    let checked = Box::pin(preflight(&connection, &planned)).await;
    let results: Vec<_> = judged.into_iter().chain(checked).collect();
    print(&release, &results, arguments.output)?;
    let failed = results.iter().any(|result| result.state == PreflightState::Failed);
    Ok(if failed { Exit::Findings } else { Exit::Success })
}

fn nothing_asked(command: &str, Release { name, namespace }: &Release) -> String {
    format!(
        "doctor needs --preflight; before an install or an upgrade: `{command} doctor --preflight --release {name} \
         --namespace {namespace} --values values.yaml`"
    )
}

/// Who has called the release otherwise would read of objects that nobody looks for.
fn note_release(Release { name, namespace }: &Release) -> anyhow::Result<()> {
    let text = format!(
        "note: this is about release {name} in namespace {namespace}; --release and --namespace name another\n"
    );
    write!(anstream::stderr(), "{}", terminal::lines(&text))?;
    Ok(())
}

fn without_values(Release { name, namespace }: &Release) -> Vec<PreflightResult> {
    let removed = PreflightCheck::RemovedValues.not_provable_yet(format!(
        "no values are given: pass the files that the upgrade gets by --values, or what `helm get values {name} -n \
         {namespace} -o yaml` prints by --values -"
    ));
    vec![removed, PreflightCheck::UnknownValues.not_provable_yet("no values are given")]
}

fn judge(removed: &[RemovedValue]) -> Vec<PreflightResult> {
    let check = PreflightCheck::RemovedValues;
    if removed.is_empty() {
        return vec![check.ok("none is given")];
    }
    removed.iter().map(|RemovedValue { path, advice }| check.failed(format!("{path}: {advice}"))).collect()
}

fn judge_unknown(unknown: &[String]) -> Vec<PreflightResult> {
    let check = PreflightCheck::UnknownValues;
    if unknown.is_empty() {
        return vec![check.ok("the chart has each value")];
    }
    unknown.iter().map(|key| check.failed(key)).collect()
}

fn print(Release { name, namespace }: &Release, results: &[PreflightResult], output: Output) -> anyhow::Result<()> {
    match output {
        Output::Text => {
            let lines: String = results.iter().map(|result| format!("{result}\n")).collect();
            write!(anstream::stdout(), "{}", terminal::lines(&lines))?;
        }
        Output::Json => {
            let document = json!({"release": name, "namespace": namespace, "checks": results});
            writeln!(anstream::stdout(), "{}", terminal::json(&document.to_string()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_removed_value_is_a_failure_that_says_what_to_do() {
        let value = |path: &str| RemovedValue { path: path.into(), advice: "remove this key".into() };
        let results = judge(&[value("webhook.enabled"), value("lake")]);
        assert_eq!(results.iter().map(|result| result.state).collect::<Vec<_>>(), [PreflightState::Failed; 2]);
        assert_eq!(results[0].to_string(), "failed            removed values: webhook.enabled: remove this key");
        assert_eq!(judge(&[])[0].state, PreflightState::Ok);
    }

    #[test]
    fn who_asks_for_nothing_is_shown_what_to_ask_for() {
        let said = nothing_asked("otter", &Release { name: "river".into(), namespace: "zoo".into() });
        assert!(said.contains("`otter doctor --preflight --release river --namespace zoo --values "), "{said}");
    }

    #[test]
    fn each_unknown_value_is_a_failure_that_names_what_may_be_meant() {
        let results = judge_unknown(&["replica: did you mean replicas?".into()]);
        let said = "failed            unknown values: replica: did you mean replicas?";
        assert_eq!(results[0].to_string(), said);
        assert_eq!(judge_unknown(&[])[0].state, PreflightState::Ok);
    }

    #[test]
    fn values_that_are_not_given_prove_nothing() {
        let results = without_values(&Release { name: "river".into(), namespace: "zoo".into() });
        assert!(results.iter().all(|result| result.state == PreflightState::NotProvableYet), "{results:?}");
        assert!(results[0].text.contains("`helm get values river -n zoo -o yaml`"), "{results:?}");
    }
}

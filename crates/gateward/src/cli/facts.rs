//! `--facts FILE`: the state of the cluster, for commands that have none.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use gateward_core::Facts;
use serde_json::Value;

use crate::cli::bounded;
use crate::operator::{FactsSource, Operator};

/// The option that several commands have.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FactsOption {
    /// What is known of the cluster: YAML or JSON, one object{facts}
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
}

/// What holds where no file is given.
pub(crate) enum Without {
    /// Nothing is known: what needs a look-up is noted, not denied.
    Unknown,
    /// The same as for an empty file.
    EmptyDocument,
}

impl FactsOption {
    pub(crate) fn is_given(&self) -> bool {
        self.facts.is_some()
    }

    /// Reads the file, if there is one, and has the operator parse it.
    pub(crate) fn read<P: Operator>(&self, operator: &P, without: Without) -> anyhow::Result<Arc<dyn Facts>> {
        match (&self.facts, without) {
            (Some(path), _) => {
                let document = read_document(path)?;
                parse(operator, &document).with_context(|| format!("{}", path.display()))
            }
            (None, Without::EmptyDocument) => parse(operator, &Value::Object(serde_json::Map::new())),
            (None, Without::Unknown) => Ok(operator.facts(FactsSource::Nowhere)?),
        }
    }
}

fn parse<P: Operator>(operator: &P, document: &Value) -> anyhow::Result<Arc<dyn Facts>> {
    Ok(operator.facts(FactsSource::Document(document))?)
}

/// The one document of a YAML or JSON file.
fn read_document(path: &Path) -> anyhow::Result<Value> {
    let bytes = bounded::read(path, bounded::SETTINGS)?;
    let source = gateward_lint::yaml::read(&bytes);
    if let Some(finding) = source.findings.first() {
        bail!("{}:{}: {}", path.display(), finding.span.line(), finding.message);
    }
    let mut documents = source.documents.into_iter();
    let document = documents.next().map_or_else(|| Value::Object(serde_json::Map::new()), |document| document.value);
    match (documents.next(), document.is_object()) {
        (None, true) => Ok(document),
        _ => Err(anyhow!("{}: facts are one object", path.display())),
    }
}

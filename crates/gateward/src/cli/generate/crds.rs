//! `generate crds`.

use clap::Args;
use gateward_core::Ordered;
use gateward_core::manifest::{Installation, yaml};
use gateward_lint::yaml::Document;

use crate::cli::crd_stanzas::{self, Printed, Stanzas};
use crate::cli::generate::arguments::{ManifestArguments, ServiceArguments};
use crate::cli::generate::manifest::Manifest;
use crate::crds;
use crate::operator::Operator;

#[derive(Debug, Args)]
pub(super) struct CrdArguments {
    #[command(flatten)]
    service: ServiceArguments,
    #[command(flatten)]
    pub(super) manifests: ManifestArguments,
}

pub(super) fn manifests<P: Operator>(operator: &P, arguments: &CrdArguments) -> anyhow::Result<Vec<Manifest>> {
    let stanzas = if arguments.service.says_something() { Stanzas::All } else { Stanzas::Missing };
    with_stanzas(operator, &arguments.service.installation(operator), stanzas)
}

/// The CRDs, each with the stanza that has its objects converted.
pub(super) fn with_stanzas<P: Operator>(
    operator: &P,
    installation: &Installation,
    stanzas: Stanzas,
) -> anyhow::Result<Vec<Manifest>> {
    crds::check(operator)?;
    Ok(crd_stanzas::printed(operator, installation, stanzas).into_iter().flat_map(of).collect())
}

fn of(crd: Printed) -> Vec<Manifest> {
    let completed = |document: Ordered| {
        let text = yaml::document_in_order(&document);
        Manifest::with_yaml(document, text)
    };
    match crd {
        Printed::Completed(documents) => documents.into_iter().map(completed).collect(),
        Printed::AsWritten(crd) => {
            let yaml = crd.yaml();
            let source = gateward_lint::yaml::read(&*yaml);
            match source.documents.as_slice() {
                // Its comments are kept.
                [document] => vec![Manifest::with_yaml(document.in_order(), yaml.into_owned())],
                documents => documents.iter().map(Document::in_order).map(completed).collect(),
            }
        }
    }
}

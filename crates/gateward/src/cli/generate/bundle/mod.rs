//! `generate bundle`: the operator as a bundle of the Operator Lifecycle Manager (OLM).

mod crds;
mod csv;
mod descriptions;
mod listing;
mod names;
mod not_carried;
mod own_pods;
mod package;
mod samples;
mod workload;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use gateward_cluster::ServedNamespaces;
use gateward_core::terminal;

use crate::cli::generate::arguments::{ManifestArguments, ReleaseArguments, WorkloadArguments};
use crate::cli::generate::deployment;
use crate::cli::generate::folder::{self, GeneratedFile};
use crate::cli::generate::manifest::Manifest;
use crate::cli::planned::planned;
use crate::exit::Exit;
use crate::operator::Operator;
use csv::CsvParts;
use descriptions::Descriptions;
use listing::ListingArguments;
use not_carried::NotCarried;
use package::{Package, PackageArguments};
use workload::BundleWorkload;

#[derive(Debug, Args)]
pub(super) struct GenerateBundleArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    #[command(flatten)]
    package: PackageArguments,
    #[command(flatten)]
    listing: ListingArguments,
    /// Files and folders with objects of the operator's kinds, which become the examples of the bundle
    #[arg(long, value_name = "PATH")]
    samples: Vec<PathBuf>,
    /// Write nothing and exit 1 where a bundle can't carry all that is declared
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    manifests: ManifestArguments,
}

/// Writes the files, and says what they can't carry.
pub(super) fn run<P: Operator>(operator: &P, arguments: &GenerateBundleArguments) -> anyhow::Result<Exit> {
    let out = arguments.manifests.folder.required("a bundle")?;
    let (files, not_carried) = bundle(operator, arguments)?;
    let mut stderr = anstream::stderr();
    for loss in &not_carried {
        writeln!(stderr, "not carried: {}", terminal::line(&loss.to_string()))?;
    }
    if arguments.strict && !not_carried.is_empty() {
        return Ok(Exit::Findings);
    }
    folder::put(out, "bundle", &files, arguments.manifests.folder.treatment())
}

fn bundle<P: Operator>(
    operator: &P,
    arguments: &GenerateBundleArguments,
) -> anyhow::Result<(Vec<GeneratedFile>, Vec<NotCarried>)> {
    crate::crds::check(operator)?;
    let release = arguments.release.release(operator);
    let values = arguments.release.values(operator)?;
    let planned = planned(operator, &release, operator.chart_values(&release, &values))?;
    if let ServedNamespaces::One(one) = &planned.config.namespaces {
        bail!("a bundle's webhooks serve the whole cluster, and the values restrict the operator to {}", one.namespace);
    }
    let package = Package::of(&operator.names(), &arguments.package)?;
    let objects = deployment::objects(operator, &release, &values, &arguments.workload)?;
    let workload = BundleWorkload::of(objects)?;
    let crds = crds::of(operator);
    let installation = operator.installation(&release);
    let port = planned.config.replicas.port;
    let descriptions = Descriptions::of(operator, &installation, &workload.deployment.name, port)?;
    names::check(&package.csv_name(), &workload.deployment.name, &descriptions.all)?;
    own_pods::check(&descriptions.all, &workload.deployment.spec)?;
    let (examples, passed_over) = samples::read(&arguments.samples, &crds)?;
    let csv = csv::document(&CsvParts {
        package: &package,
        listing: listing::fields(&arguments.listing)?,
        names: &operator.names(),
        image: &arguments.workload.image,
        suggested_namespace: &release.namespace,
        service_account: &planned.service_account,
        permissions: planned.permissions().without_controller(),
        workload: &workload,
        descriptions: &descriptions.all,
        crds: &crds,
        examples: &examples,
    })?;
    let mut manifests = vec![(format!("{}.clusterserviceversion.yaml", package.name), Manifest::of(&csv))];
    manifests.extend(crds.into_iter().map(|crd| (crd.file, crd.manifest)));
    manifests.extend(workload.others.into_iter().map(|(file, object)| (file, Manifest::of(&object))));
    let format = arguments.manifests.format;
    let manifests = manifests.iter().map(|(file, manifest)| format.file_at(format!("manifests/{file}"), manifest));
    let mut files: Vec<GeneratedFile> = manifests.collect::<Result<_, _>>()?;
    files.extend(package.files(format)?);
    files.extend(listing::files(&arguments.listing, format)?);
    Ok((files, descriptions.not_carried.into_iter().chain(passed_over).collect()))
}

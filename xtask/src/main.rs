//! Generates the files of the repository that follow from the code: CRDs and parts of the Helm chart.

mod chart;
mod crds;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Generates CRDs and parts of the Helm chart from the code.")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write generated files.
    #[command(subcommand)]
    Generate(Generated),
}

#[derive(Subcommand)]
enum Generated {
    /// The CustomResourceDefinitions, made from the types of dynamo-api.
    Crds,
    /// The parts of the Helm chart that follow from the declared webhooks and from what a replica does in the cluster.
    Chart,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Generate(Generated::Crds) => crds::write(),
        Task::Generate(Generated::Chart) => chart::write(),
    }
}

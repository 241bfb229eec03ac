//! Generates what is kept in the repository and measures its shape.

mod chart;
mod crds;
mod shape;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Generates what is kept in the repository and measures its shape.")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write generated files.
    #[command(subcommand)]
    Generate(Generated),
    /// Print how long files and functions are, and how well they are documented.
    Shape,
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
        Task::Shape => shape::print(),
    }
}

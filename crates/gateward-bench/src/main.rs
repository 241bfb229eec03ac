//! What the program that people run costs, beside a handler that does nothing and a peer in Go.
//!
//! `gateward-bench GATEWARD PEER` starts each server as a process of its own. All get reviews of the same size over
//! kept-alive TLS connections, in rounds that take turns, so that whatever else the machine does falls on all of them.
//! `docs/performance.md` tells the method and what was measured.
//!
//! `gateward-bench GATEWARD DIRECTORY` asks about bodies that somebody keeps there.

#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod bodies;
mod client;
mod conversion;
mod goals;
mod load;
mod pods;
mod process;
mod reviews;
mod server;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match arguments.as_slice() {
        [flag, ca_out] if flag == Path::new(server::NOTHING) => runtime.block_on(server::serve_nothing(ca_out))?,
        [gateward, directory] if directory.is_dir() => {
            print!("{}", runtime.block_on(bodies::measure(&gateward.canonicalize()?, directory))?);
        }
        [gateward, peer] => {
            let paths = [gateward, peer].map(|path| path.canonicalize().with_context(|| path.display().to_string()));
            let [gateward, peer] = paths;
            runtime.block_on(measure(&gateward?, &peer?))?;
        }
        _ => {
            eprintln!(
                "usage: gateward-bench GATEWARD PEER, the programs to measure; `make bench` builds them\n       \
                 gateward-bench GATEWARD DIRECTORY, of bodies that cost tests kept; `make bench-bodies` has it done"
            );
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn measure(gateward: &Path, peer: &Path) -> anyhow::Result<()> {
    let reviews = table::measure(gateward, peer).await?;
    print!("{reviews}");
    let conversions = conversion::measure(gateward).await?;
    print!("\n{conversions}\n{}", goals::table(&reviews, &conversions, gateward)?);
    Ok(())
}

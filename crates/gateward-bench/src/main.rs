//! What a verdict costs, beside a handler that does nothing in the same server.
//!
//! One run starts two servers as processes of their own: ours, and one in the same shell that reads the body and answers
//! a constant. Both get the same reviews over kept-alive TLS connections, in rounds that take turns, so that whatever
//! else the machine does falls on both. `docs/performance.md` tells the method and what was measured.

mod child;
mod client;
mod conversion;
mod load;
mod process;
mod reviews;
mod table;

use std::process::ExitCode;

use child::{Child, Handler};
use reviews::Sample;

fn main() -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        if let Some(handler) = std::env::args().nth(1).as_deref().and_then(Handler::parse) {
            return child::serve(handler).await;
        }
        measure().await?;
        conversion::measure().await
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn measure() -> anyhow::Result<()> {
    let (ours, nothing) = (Child::start(Handler::Webhooks)?, Child::start(Handler::Nothing)?);
    let idle = process::memory(ours.pid())?;
    let mut rows = Vec::new();
    for sample in Sample::all() {
        let mut row = table::Row::new(&sample);
        for round in 0..load::ROUNDS {
            eprint!("\r{}: round {} of {}  ", sample.name, round + 1, load::ROUNDS);
            row.ours.add(load::round(&ours, &sample).await?);
            row.nothing.add(load::round(&nothing, &sample).await?);
        }
        eprintln!();
        rows.push(row);
    }
    print!("{}", table::table(&rows, idle, process::memory(ours.pid())?));
    Ok(())
}

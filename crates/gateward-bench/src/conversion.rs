//! What a ConversionReview costs: one object, and lists as the API server sends them.

use std::time::{Duration, Instant};

use crate::child::{Child, Handler};
use crate::client::{KeepAliveConnection, request};
use crate::process;
use crate::reviews::{Way, conversion};
use crate::table::quantile;

/// Of an object.
const BYTES: usize = 10_000;

/// Objects in a review, how often it is sent, and the aim for the slowest of a hundred.
const SIZES: [(usize, usize, Duration); 3] = [
    (1, 2_000, Duration::from_millis(5)),
    (1_500, 40, Duration::from_millis(150)),
    (10_000, 10, Duration::from_secs(1)),
];

/// Measures both ways in all sizes and prints a table.
pub async fn measure() -> anyhow::Result<()> {
    println!("\nconversion            objects      MB    p50 ms    p99 ms   aim ms  nothing p50    peak MB");
    for way in [Way::Lift, Way::Lower] {
        for (objects, times, aim) in SIZES {
            row(way, objects, times, aim).await?;
        }
    }
    Ok(())
}

/// Servers of their own for each row, so that the peak of memory is the row's.
async fn row(way: Way, objects: usize, times: usize, aim: Duration) -> anyhow::Result<()> {
    let sample = conversion(way, BYTES, objects)?;
    let request = request(&sample);
    let (ours, nothing) = (Child::start(Handler::Webhooks)?, Child::start(Handler::Nothing)?);
    let (mut spent, mut spent_on_nothing) = (Vec::new(), Vec::new());
    // The servers take turns, so that whatever else the machine does falls on both.
    let (mut asked, mut asked_nothing) =
        (KeepAliveConnection::open(&ours).await?, KeepAliveConnection::open(&nothing).await?);
    for _ in 0..times {
        spent.push(time(&mut asked, &request).await?);
        spent_on_nothing.push(time(&mut asked_nothing, &request).await?);
    }
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{:20} {objects:>8} {:>7} {:>9.2} {:>9.2} {:>8} {:>12.2} {:>10}",
        way.name(),
        request.len() / 1_000_000,
        millis(quantile(&spent, 50)),
        millis(quantile(&spent, 99)),
        aim.as_millis(),
        millis(quantile(&spent_on_nothing, 50)),
        process::peak_memory(ours.pid())? / 1_000,
    );
    Ok(())
}

async fn time(connection: &mut KeepAliveConnection, request: &[u8]) -> anyhow::Result<Duration> {
    let started = Instant::now();
    connection.ask(request).await?;
    Ok(started.elapsed())
}

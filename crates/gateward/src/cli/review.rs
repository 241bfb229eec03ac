//! `review`: AdmissionReviews and ConversionReviews in, answers out.

use std::borrow::Cow;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, Command};
use gateward_core::{Context, Facts, Outcome, Review};
use serde::Deserialize;

use crate::cli::facts::{FactsOption, Without};
use crate::exit::Exit;
use crate::product::Product;

/// Arguments of `review`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Ask the defaulting handlers instead of the validating ones
    #[arg(long)]
    mutate: bool,
    #[command(flatten)]
    facts: FactsOption,
}

pub(crate) fn command() -> Command {
    Arguments::augment_args(Command::new("review"))
        .about("Answer AdmissionReviews and ConversionReviews from standard input, one JSON object a line")
        .long_about(
            "Answer AdmissionReviews and ConversionReviews from standard input, one JSON object a line, and print the \
             answers in the same order.\n\nThis is the decision without server and cluster: for a line from an audit \
             log, or from a test. The handler is chosen by request.kind and request.operation. Kinds without one pass, \
             and so do creates, updates and deletes that nobody judges; other operations are refused. A \
             ConversionReview is answered whatever the options say. Without --facts, the defaults of an empty facts \
             file hold.",
        )
        .after_help(
            "Exit codes: 0 every line got an answer, denials and failed conversions included; 2 a line was unreadable \
             (its answer has an empty uid), or could not be decided.\n\nExamples:\n  gateward review < \
             reviews.jsonl\n  gateward review --mutate --facts facts.yaml < reviews.jsonl | jq .response.patch",
        )
}

pub(crate) async fn run<P: Product>(product: &P, arguments: &Arguments) -> anyhow::Result<Exit> {
    let facts = arguments.facts.read(product, Without::EmptyDocument)?;
    let review = if arguments.mutate { Review::Mutate } else { Review::Validate };
    let (stdin, stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    answer_lines(product, review, &facts, stdin, stdout).await
}

async fn answer_lines<P: Product>(
    product: &P,
    review: Review,
    facts: &Arc<dyn Facts>,
    mut input: impl BufRead,
    mut output: impl Write,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Fine;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            let context = Context::new(SystemTime::now(), Arc::clone(facts));
            let review = if is_conversion(line.trim_ascii()) { Review::Convert } else { review };
            let answer = product.registry().answer_by_kind(review, line.trim_ascii(), &context).await;
            if matches!(answer.record.outcome, Outcome::Undecided(_)) {
                exit = Exit::Trouble;
            }
            output.write_all(&answer.review_body())?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(exit)
}

/// Whether a line says that it is a ConversionReview. Whatever else it is, reading it as a review says what is wrong.
fn is_conversion(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        kind: Cow<'a, str>,
    }
    serde_json::from_slice::<Kind<'_>>(line).is_ok_and(|found| found.kind == "ConversionReview")
}

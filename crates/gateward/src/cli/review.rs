//! `review`: AdmissionReviews and ConversionReviews in, answers out.

use std::borrow::Cow;
use std::io::{BufRead, Write};
use std::panic::PanicHookInfo;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use clap::{Args, Command};
use gateward_core::{Context, Decision, Facts, Outcome, Review, ReviewResponse, WebhookError, Webhooks, terminal};
use gateward_server::catch_panic;
use serde::Deserialize;

use crate::cli::bounded::{self, Line};
use crate::cli::facts::{FactsOption, Without};
use crate::exit::Exit;
use crate::operator::Operator;

/// Arguments of `review`.
#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// Ask the defaulting handlers instead of the validating ones
    #[arg(long)]
    mutate: bool,
    #[command(flatten)]
    facts: FactsOption,
}

pub(crate) fn command() -> Command {
    ReviewArguments::augment_args(Command::new("review"))
        .about("Answer AdmissionReviews and ConversionReviews from standard input, one JSON object a line")
        .long_about(
            "Answer AdmissionReviews and ConversionReviews from standard input, one JSON object a line, and print the \
             answers in the same order.\n\nThis is the decision without server and cluster: for a line from an audit \
             log, or from a test. The handler is chosen by request.kind and request.operation. Kinds without one pass, \
             and so do creates, updates and deletes without a webhook; other operations are refused. A \
             ConversionReview is answered whatever the options say. Without --facts, the defaults of an empty facts \
             file hold.",
        )
        .after_help(
            "Exit codes: 0 every line got an answer, denials and failed conversions included; 2 a line was unreadable \
             or too long (its answer has an empty uid), or could not be decided.\n\nExamples:\n  {command} review < \
             reviews.jsonl\n  {command} review --mutate --facts facts.yaml < reviews.jsonl | jq .response.patch",
        )
}

pub(crate) async fn run<P: Operator>(operator: &P, arguments: &ReviewArguments) -> anyhow::Result<Exit> {
    let facts = arguments.facts.read(operator, Without::EmptyDocument)?;
    let review = if arguments.mutate { Review::Mutate } else { Review::Validate };
    std::panic::set_hook(Box::new(tell_place));
    let (stdin, stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    answer_lines(operator.webhooks(), review, &facts, stdin, stdout).await
}

/// Says where the program panicked, but not what it said: that may be a part of an object.
fn tell_place(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "error: panic at {place}");
}

async fn answer_lines(
    webhooks: &Webhooks,
    review: Review,
    facts: &Arc<dyn Facts>,
    mut input: impl BufRead,
    mut output: impl Write,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Success;
    let mut line = Vec::new();
    loop {
        let answer = match bounded::next_line(&mut input, &mut line, bounded::MANIFESTS)? {
            Line::End => return Ok(exit),
            Line::Read if line.trim_ascii().is_empty() => continue,
            Line::Read => answer(webhooks, review, facts, line.trim_ascii()).await,
            Line::TooLong => {
                let limit = usize::try_from(bounded::MANIFESTS).unwrap_or(usize::MAX);
                ReviewResponse::error(WebhookError::TooLarge { limit })
            }
        };
        if matches!(answer.decision.outcome, Outcome::Error(_)) {
            exit = Exit::Error;
        }
        writeln!(output, "{}", terminal::json(&String::from_utf8_lossy(&answer.review_body())))?;
        output.flush()?;
    }
}

/// The answer to one review, also where judging it panics.
async fn answer(webhooks: &Webhooks, review: Review, facts: &Arc<dyn Facts>, line: &[u8]) -> ReviewResponse {
    let about = Arc::new(OnceLock::new());
    let context = Context::new(SystemTime::now(), Arc::clone(facts));
    let context = context.observer(Arc::<OnceLock<Decision>>::clone(&about));
    let review = if is_conversion(line) { Review::Convert } else { review };
    if let Ok(answer) = catch_panic(webhooks.handle_kind(review, line, &context)).await {
        return answer;
    }
    ReviewResponse::error_in(about.get().cloned(), WebhookError::Panicked)
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

#[cfg(test)]
mod tests {
    use gateward_core::{Request, Validator, Verdict, Webhook, handler};
    use serde_json::{Value, json};

    use super::*;
    use crate::cli::convert::converter::tests::v1::Otter;

    /// Panics at an otter that has a weight.
    struct Panics;

    #[handler]
    impl Validator<Otter> for Panics {
        async fn create(&self, otter: &Otter, _: &Request) -> Verdict {
            assert!(otter.status.weight.is_none(), "contents of an object");
            Verdict::deny("\u{9b}\u{202e}")
        }
    }

    fn review(uid: &str, status: &Value) -> String {
        let kind = json!({"group": "example.org", "version": "v1", "kind": "Otter"});
        let object =
            json!({"apiVersion": "example.org/v1", "kind": "Otter", "metadata": {"name": "otto"}, "status": status});
        let request = json!({"uid": uid, "kind": kind, "operation": "CREATE", "object": object});
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).to_string() + "\n"
    }

    #[tokio::test]
    async fn a_panic_costs_one_answer() {
        let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(Panics));
        let input = [review("1", &json!({})), review("2", &json!({"weight": 1})), review("3", &json!({}))].concat();
        let (mut output, facts): (Vec<u8>, Arc<dyn Facts>) = (Vec::new(), Arc::new(()));
        let exit = answer_lines(&webhooks, Review::Validate, &facts, input.as_bytes(), &mut output).await.unwrap();
        assert_eq!(exit, Exit::Error);
        let text = String::from_utf8(output).unwrap();
        assert!(text.is_ascii() && !text.contains("contents"), "{text}");
        let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let answered = answers.iter().map(|answer| {
            let response = &answer["response"];
            (response["uid"].as_str().unwrap(), response["status"]["code"].as_u64().unwrap())
        });
        assert_eq!(answered.collect::<Vec<_>>(), [("1", 400), ("2", 500), ("3", 400)]);
        assert_eq!(answers[0]["response"]["status"]["message"], r"\u{9b}\u{202e}");
    }
}

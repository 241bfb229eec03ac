//! That the examples of the catalogue do what they say.

#![allow(clippy::missing_panics_doc, clippy::panic, reason = "assertions panic; that is what they are for")]

use std::fmt;

use gateward_core::testing::{Findings, TestRequest};
use gateward_core::{ClusterReader, DECODE, Facts, Issue, Operation, Outcome, Rule, Severity, Webhooks};
use serde_json::{Value, json};

use super::example::RuleExample;

/// The examples of an operator's rules: each bad one breaks its rule, each good one is admitted. `my-operator rules` prints
/// them, so they had better be true.
///
/// ```
/// use gateward::prelude::*;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct CronTab { schedule: String }
/// # resource!(CronTab, "stable.example.com/v1", "CronTab", "crontabs");
///
/// const SCHEDULE: Rule = Rule {
///     id: "CRON-01",
///     summary: "a schedule has five fields",
///     bad: "object: {apiVersion: stable.example.com/v1, kind: CronTab, schedule: daily}",
///     good: "object: {apiVersion: stable.example.com/v1, kind: CronTab, schedule: 0 4 * * *}",
///     ..Rule::on(CREATE_AND_UPDATE)
/// };
/// # fn rules(new: &CronTab, _: &Request) -> Issues {
/// #     let mut issues = Issues::new();
/// #     if new.schedule.split(' ').count() != 5 {
/// #         issues.add(SCHEDULE.invalid(FieldPath::field("schedule"), new.schedule.as_str()).message("must have five fields"));
/// #     }
/// #     issues
/// # }
///
/// let webhooks = Webhooks::new().register(Webhook::<CronTab>::new().validator(rules).rules([&SCHEDULE]));
/// gateward::testing::catalogue(&webhooks).complete().hold();
/// ```
pub fn catalogue(webhooks: &Webhooks) -> CatalogueTest<'_> {
    let request = TestRequest::of(webhooks).with_unlisted_rules();
    CatalogueTest { webhooks, request, facts: None, demands: Vec::new() }
}

type WithFacts<'w> = dyn Fn(TestRequest<'w>, &Value) -> Result<TestRequest<'w>, String> + 'w;

/// Examples to be tested; made by [`catalogue`].
pub struct CatalogueTest<'w> {
    webhooks: &'w Webhooks,
    request: TestRequest<'w>,
    facts: Option<Box<WithFacts<'w>>>,
    demands: Vec<CatalogueDemand>,
}

/// What is demanded beside that examples are true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatalogueDemand {
    BothExamples,
    Help,
}

/// Which verdict an example shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Bad,
    Good,
}

impl<'w> CatalogueTest<'w> {
    /// The member `facts` of an example is read so; one without it is read as `{}`.
    pub fn facts<F: Facts, E: fmt::Display>(mut self, read: impl Fn(&Value) -> Result<F, E> + 'w) -> Self {
        let with_facts = move |request: TestRequest<'w>, document: &Value| match read(document) {
            Ok(facts) => Ok(request.facts(facts)),
            Err(error) => Err(format!("has facts that can't be read: {error}")),
        };
        self.facts = Some(Box::new(with_facts));
        self
    }

    /// In a cluster in which rules look things up, such as [`Stored`](super::Stored).
    pub fn cluster(mut self, cluster: impl ClusterReader) -> Self {
        self.request = self.request.cluster(cluster);
        self
    }

    /// Each rule has both examples.
    pub fn complete(mut self) -> Self {
        self.demands.push(CatalogueDemand::BothExamples);
        self
    }

    /// Each finding on an example says what would be right, by itself or by the `help` of its rule.
    pub fn helpful(mut self) -> Self {
        self.demands.push(CatalogueDemand::Help);
        self
    }

    /// Fails with all that is wrong.
    #[track_caller]
    pub fn hold(&self) {
        let failures = self.failures();
        assert!(failures.is_empty(), "{} examples:\n  {}", failures.len(), failures.join("\n  "));
    }

    /// What is wrong, with the rule and the example that it is wrong with.
    pub fn failures(&self) -> Vec<String> {
        let rules = self.webhooks.rules().into_iter().filter(|rule| rule.id != DECODE.id);
        let examples = rules.flat_map(|rule| [Shown::Bad, Shown::Good].map(|shown| (rule, shown)));
        let failure = |(rule, shown): (&Rule, Shown)| {
            let why = self.check(rule, shown).err()?;
            Some(format!("the {shown} example of {} {why}", rule.id))
        };
        examples.filter_map(failure).collect()
    }

    fn check(&self, rule: &Rule, shown: Shown) -> Result<(), String> {
        let text = if shown == Shown::Bad { rule.bad } else { rule.good };
        if text.is_empty() {
            let is_demanded = self.demands.contains(&CatalogueDemand::BothExamples);
            return if is_demanded { Err(format!("is missing; write it as `{shown}` of the `Rule`")) } else { Ok(()) };
        }
        let example = RuleExample::read(text)?;
        example.is_of(rule)?;
        let findings = self.answer(&example, rule)?;
        let answer = described(&findings);
        let is_found = issues(&findings).any(|issue| issue.rule == rule.id && issue.severity != Severity::Note);
        match shown {
            Shown::Bad if !is_found => {
                Err(format!("doesn't break it: it is answered with {answer}; write one that does, or mend the rule"))
            }
            Shown::Good if is_found || findings.answer().decision.outcome != Outcome::Allowed => {
                Err(format!("isn't admitted: it is answered with {answer}; write one that is, or mend the rule"))
            }
            Shown::Bad => self.check_help(&findings),
            Shown::Good => Ok(()),
        }
    }

    fn answer(&self, example: &RuleExample, rule: &Rule) -> Result<Findings, String> {
        let request = self.request.clone();
        let request = match &self.facts {
            Some(with_facts) if example.facts.is_null() => with_facts(request, &json!({}))?,
            Some(with_facts) => with_facts(request, &example.facts)?,
            None if example.facts.is_null() => request,
            None => return Err("has facts, which nobody reads; say how with `.facts(…)`".into()),
        };
        let request = match &example.user {
            Some(name) => request.user(name),
            None => request,
        };
        Ok(match example.operation(rule) {
            Operation::Create => request.create(&example.object),
            Operation::Update => request.update(&example.old, &example.object),
            Operation::Delete => request.delete(&example.old),
            Operation::Connect => request.connect(&example.object),
        })
    }

    fn check_help(&self, findings: &Findings) -> Result<(), String> {
        let rules = self.webhooks.rules();
        let has_help = |issue: &Issue| {
            issue.help.is_some() || rules.iter().any(|rule| rule.id == issue.rule && !rule.help.is_empty())
        };
        let is_demanded = self.demands.contains(&CatalogueDemand::Help);
        match issues(findings).find(|issue| is_demanded && !has_help(issue)) {
            Some(issue) => {
                Err(format!("has the finding {} {issue}, which has no help; write `help` of its `Rule`", issue.rule))
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Bad { "bad" } else { "good" })
    }
}

fn issues(findings: &Findings) -> impl Iterator<Item = &Issue> {
    findings.answer().decision.issues.iter()
}

fn described(findings: &Findings) -> String {
    let answer = findings.answer();
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let message = [&body["message"], &body["response"]["status"]["message"]].into_iter().find_map(Value::as_str);
    let issues: Vec<String> = issues(findings).map(|issue| format!("{} {issue}", issue.rule)).collect();
    match message {
        Some(message) if issues.is_empty() => format!("{}: {message}", answer.status),
        _ if issues.is_empty() => "no finding".into(),
        _ => issues.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use gateward_core::testing::Stored;
    use gateward_core::{CREATE_AND_UPDATE, FieldPath, Issues, ObjectName, Request, Webhook, WebhookError, resource};

    use super::*;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Otter {
        river: String,
        #[serde(default)]
        fish: u32,
    }

    resource!(Otter, "example.org/v1", "Otter", "otters");

    #[derive(serde::Serialize, serde::Deserialize)]
    struct River {}

    resource!(River, "example.org/v1", "River", "rivers", Cluster);

    /// How many fish an otter may have.
    struct MostFish(u64);

    impl Facts for MostFish {}

    const TRUE_RULE: Rule = Rule {
        id: "OTTER-01",
        summary: "an otter has few fish",
        help: "take fewer",
        bad: "{facts: {most: 3}, object: {apiVersion: example.org/v1, kind: Otter, river: wye, fish: 4}}",
        good: "{facts: {most: 4}, object: {apiVersion: example.org/v1, kind: Otter, river: wye, fish: 4}}",
        ..Rule::on(CREATE_AND_UPDATE)
    };

    /// Judges as `TRUE_RULE` and `RIVER` say.
    async fn rules(new: &Otter, request: &Request) -> Result<Issues, WebhookError> {
        let mut issues = Issues::new();
        let most = request.facts::<MostFish>().map_or(9, |most| most.0);
        if u64::from(new.fish) > most {
            issues.add(TRUE_RULE.invalid(FieldPath::field("fish"), i64::from(new.fish)).message("too many"));
        }
        if new.river != "wye" {
            let river = ObjectName::of::<River>(None, &new.river);
            if request.cluster()?.get(&river).await.found()?.is_none() {
                issues.add(RIVER.not_found(FieldPath::field("river"), new.river.as_str()));
            }
        }
        Ok(issues)
    }

    const RIVER: Rule = Rule {
        id: "OTTER-02",
        summary: "the river is there",
        bad: "object: {apiVersion: example.org/v1, kind: Otter, river: styx}",
        good: "object: {apiVersion: example.org/v1, kind: Otter, river: usk}",
        ..Rule::on(CREATE_AND_UPDATE)
    };

    fn most_fish(document: &Value) -> Result<MostFish, String> {
        document
            .get("most")
            .map_or(Ok(9), |most| most.as_u64().ok_or("most is a number"))
            .map(MostFish)
            .map_err(Into::into)
    }

    fn webhooks(rule: &'static Rule) -> Webhooks {
        Webhooks::new().register(Webhook::<Otter>::new().validator(rules).rules([rule]))
    }

    /// What is wrong with a rule whose bad example is so.
    fn failures_of(bad: &'static str) -> Vec<String> {
        let rule: &'static Rule = Box::leak(Box::new(Rule { bad, ..TRUE_RULE }));
        catalogue(&webhooks(rule)).facts(most_fish).failures()
    }

    #[test]
    fn true_examples_hold() {
        catalogue(&webhooks(&TRUE_RULE)).facts(most_fish).complete().helpful().hold();
        let rivers = Stored::new().with::<River>(&json!({"metadata": {"name": "usk"}}));
        catalogue(&webhooks(&RIVER)).cluster(rivers).complete().hold();
    }

    #[test]
    fn an_example_that_does_not_parse_fails_with_its_place() {
        for (bad, why) in [
            ("object: [", "is no plain YAML: line 1"),
            ("object: {}\n---\nobject: {}", "holds 2 documents; write one"),
            ("apiVersion: example.org/v1", "unknown field `apiVersion`, expected one of"),
            ("user: jane", "is about nothing; write an object below `object:`"),
            ("object: {apiVersion: example.org/v1, kind: Seal}", "404: no webhook is served at"),
            ("{facts: {most: many}, object: {kind: Otter}}", "has facts that can't be read: most is a number"),
        ] {
            let failures = failures_of(bad);
            assert_eq!(failures.len(), 1, "{bad}: {failures:?}");
            assert!(failures[0].starts_with("the bad example of OTTER-01 "), "{failures:?}");
            assert!(failures[0].contains(why), "{bad}: {failures:?}");
        }
    }

    #[test]
    fn all_examples_that_do_not_do_what_they_say_fail_at_once() {
        let (few, many) = (
            "object: {apiVersion: example.org/v1, kind: Otter, river: wye, fish: 2}",
            "object: {apiVersion: example.org/v1, kind: Otter, river: wye, fish: 20}",
        );
        let rule: &'static Rule = Box::leak(Box::new(Rule { bad: few, good: many, ..TRUE_RULE }));
        assert_eq!(
            catalogue(&webhooks(rule)).failures(),
            [
                "the bad example of OTTER-01 doesn't break it: it is answered with no finding; write one that does, or \
                 mend the rule",
                "the good example of OTTER-01 isn't admitted: it is answered with OTTER-01 fish: Invalid value: 20: too \
                 many; write one that is, or mend the rule",
            ]
        );
    }

    #[test]
    fn an_example_of_another_kind_or_operation_than_its_rules_fails() {
        let rule = |rule: Rule| catalogue(&webhooks(Box::leak(Box::new(rule)))).facts(most_fish).failures().join(" ");
        let seals = rule(Rule { kinds: &["Seal"], versions: &["v2"], ..TRUE_RULE });
        assert!(seals.contains("is about example.org/v1 Otter, and the rule is for Seal in v2"), "{seals}");
        let updates = rule(Rule { operations: gateward_core::UPDATE, ..TRUE_RULE });
        assert!(updates.contains("is about CREATE, and the rule is for UPDATE"), "{updates}");
    }

    #[test]
    fn what_an_example_lacks_is_said_with_the_way_out() {
        let incomplete: &'static Rule = Box::leak(Box::new(Rule { good: "", help: "", ..TRUE_RULE }));
        let webhooks = webhooks(incomplete);
        assert_eq!(catalogue(&webhooks).facts(most_fish).failures(), Vec::<String>::new());
        let failures = catalogue(&webhooks).facts(most_fish).complete().helpful().failures();
        assert_eq!(failures.len(), 2);
        assert!(failures[0].ends_with("which has no help; write `help` of its `Rule`"), "{failures:?}");
        assert_eq!(failures[1], "the good example of OTTER-01 is missing; write it as `good` of the `Rule`");
        let unread = catalogue(&webhooks).failures();
        assert_eq!(unread, ["the bad example of OTTER-01 has facts, which nobody reads; say how with `.facts(…)`"]);
    }

    #[test]
    #[should_panic(expected = "2 examples:\n  the bad example of OTTER-02")]
    fn what_fails_fails_the_test() {
        // Without a cluster nobody knows of rivers.
        catalogue(&webhooks(&RIVER)).hold();
    }
}

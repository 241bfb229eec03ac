//! The writer's process ends before or after each of its writes.

use cluster_tests::{Sandbox, Test, tests, until};

use crate::rotation::{ask, is_exchanged};
use crate::zoo::{PATIENCE, Zoo};

pub fn tests() -> Vec<Test> {
    tests![
        a_writer_that_ends_before_or_after_it_begins_is_followed,
        a_writer_that_ends_before_or_after_it_publishes_is_followed,
        a_writer_that_ends_before_or_after_it_switches_is_followed,
        a_writer_that_ends_before_or_after_it_issues_is_followed,
        a_writer_that_ends_before_or_after_it_retires_is_followed,
        a_writer_that_ends_before_or_after_it_trims_is_followed,
        a_writer_that_ends_before_or_after_it_finishes_is_followed,
    ]
}

/// One exchange after the other, and in each of them one replica ends.
async fn ends_at(sandbox: Sandbox, write: &str) {
    let zoo = Zoo::installed(sandbox).await;
    let file = zoo.sandbox().bed().folder().join(format!("{}.fail-point", zoo.namespace()));
    let _processes = [zoo.process("otter-1", &file).await, zoo.process("otter-2", &file).await];
    for side in ["before", "after"] {
        until("everything settles", PATIENCE, async || zoo.carries_only_the_authority().await).await;
        let before = zoo.authority().await;
        std::fs::write(&file, format!("{side}:{write}")).unwrap();
        ask(&zoo).await;
        until("the exchange is over", PATIENCE, async || is_exchanged(&zoo, &before).await).await;
        until("one has ended", PATIENCE, async || !file.exists()).await;
    }
}

async fn a_writer_that_ends_before_or_after_it_begins_is_followed(sandbox: Sandbox) {
    ends_at(sandbox, "begin").await;
}

async fn a_writer_that_ends_before_or_after_it_publishes_is_followed(sandbox: Sandbox) {
    ends_at(sandbox, "publish-bundles").await;
}

async fn a_writer_that_ends_before_or_after_it_switches_is_followed(sandbox: Sandbox) {
    ends_at(sandbox, "switch").await;
}

async fn a_writer_that_ends_before_or_after_it_issues_is_followed(sandbox: Sandbox) {
    ends_at(sandbox, "issue-leaf").await;
}

async fn a_writer_that_ends_before_or_after_it_retires_is_followed(sandbox: Sandbox) {
    ends_at(sandbox, "retire").await;
}

async fn a_writer_that_ends_before_or_after_it_trims_is_followed(sandbox: Sandbox) {
    ends_at(sandbox, "trim-bundles").await;
}

async fn a_writer_that_ends_before_or_after_it_finishes_is_followed(sandbox: Sandbox) {
    ends_at(sandbox, "finish").await;
}

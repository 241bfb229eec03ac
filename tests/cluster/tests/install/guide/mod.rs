//! What the webhook guide tells users to type, as our page on troubleshooting has it: each command is run, and each symptom
//! made to appear.

mod commands;
mod symptoms;
mod user;

use cluster_tests::Test;

pub fn tests() -> Vec<Test> {
    commands::tests().into_iter().chain(symptoms::tests()).collect()
}

//! Elastic expert parallelism on Ray: ELASTIC-01.

use dynamo_api::v1beta1::{BackendFramework, ComponentSpec};
use gateward::{FieldPath, Issue, Rule};

use super::pod_view::{Pod, container_path};

/// A finding of `rule` where vLLM's arguments ask for elastic expert parallelism on Ray and no command says how the
/// engine is started: the operator's own command would start it without Ray.
pub(crate) fn missing_command(
    rule: &Rule,
    framework: Option<&BackendFramework>,
    component: &ComponentSpec,
    at: &FieldPath,
) -> Option<Issue> {
    if framework != Some(&BackendFramework::Vllm) {
        return None;
    }
    let pod = Pod::of(component);
    let (index, main) = pod.main_container()?;
    let container = container_path(index);
    let is_known = || ["command", "args"].into_iter().all(|member| pod.has_read_all(&(&container / member)));
    if !main.command.is_empty() || !asks_for_elastic_experts(&main.args) || !is_known() {
        return None;
    }
    let command = (at / "podTemplate").join(container.segments()) / "command";
    let issue = rule.required(command).message("must be set for elastic expert parallelism on Ray");
    Some(issue.help("set the command that starts vLLM on the Ray cluster"))
}

/// Whether arguments turn elastic expert parallelism on and choose Ray. One argument may hold several words.
fn asks_for_elastic_experts(args: &[String]) -> bool {
    let mut words = args.iter().flat_map(|arg| arg.split_whitespace()).peekable();
    let (mut elastic, mut ray) = (false, false);
    while let Some(word) = words.next() {
        match word {
            "--enable-elastic-ep" => elastic = true,
            "--data-parallel-backend=ray" | "-dpb=ray" => ray = true,
            "--data-parallel-backend" | "-dpb" => ray |= words.peek() == Some(&"ray"),
            _ => {}
        }
    }
    elastic && ray
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(args: &[&str]) -> bool {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        asks_for_elastic_experts(&args)
    }

    #[test]
    fn both_flags_are_needed() {
        assert!(asks(&["--enable-elastic-ep", "--data-parallel-backend", "ray"]));
        assert!(!asks(&["--enable-elastic-ep"]));
        assert!(!asks(&["--data-parallel-backend", "ray"]));
        assert!(!asks(&["--enable-elastic-ep", "--data-parallel-backend", "mp"]));
        assert!(!asks(&[]));
    }

    #[test]
    fn every_spelling_of_the_backend_counts() {
        for backend in ["--data-parallel-backend ray", "--data-parallel-backend=ray", "-dpb ray", "-dpb=ray"] {
            assert!(asks(&[&format!("--model m {backend}\n--enable-elastic-ep")]), "{backend}");
        }
    }

    #[test]
    fn words_that_only_begin_alike_do_not_count() {
        assert!(!asks(&["--enable-elastic-eplb", "-dpb", "ray"]));
        assert!(!asks(&["--enable-elastic-ep", "-dpb", "rayon"]));
        assert!(!asks(&["--enable-elastic-ep", "-dpb"]));
    }
}

//! Options of the released operator's log, so that a command line which was written for it works.

use clap::ValueEnum;

use crate::config::LogFormat;

/// Options that are not shown in the help.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ZapOptions {
    /// What is logged: debug, info, error, panic, or a number above 0 for more than debug
    #[arg(long = "zap-log-level", id = "zap-log-level", value_name = "LEVEL", hide = true, conflicts_with = "local")]
    log_level: Option<String>,
    /// How a log line looks
    #[arg(long = "zap-encoder", id = "zap-encoder", value_name = "ENCODER", hide = true, conflicts_with = "local")]
    encoder: Option<Encoder>,
    /// Accepted, without an effect
    #[arg(long = "zap-devel", id = "zap-devel", hide = true, conflicts_with = "local", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    devel: Option<bool>,
    /// Accepted, without an effect
    #[arg(long = "zap-stacktrace-level", id = "zap-stacktrace-level", hide = true, conflicts_with = "local")]
    stacktrace_level: Option<String>,
    /// Accepted, without an effect
    #[arg(long = "zap-time-encoding", id = "zap-time-encoding", hide = true, conflicts_with = "local")]
    time_encoding: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Encoder {
    Json,
    Console,
}

impl ZapOptions {
    /// What is logged, if it is said here.
    pub(super) fn filter(&self) -> Option<&'static str> {
        Some(match self.log_level.as_deref()? {
            "error" | "panic" => "error",
            "debug" | "1" => "debug",
            more if more.parse::<u32>().is_ok_and(|more| more > 1) => "trace",
            _ => "info",
        })
    }

    /// How a line looks, if it is said here.
    pub(super) fn format(&self) -> Option<LogFormat> {
        Some(match self.encoder? {
            Encoder::Json => LogFormat::Json,
            Encoder::Console => LogFormat::Text,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    fn options(arguments: &[&str]) -> ZapOptions {
        let command = ZapOptions::augment_args(Command::new("serve").arg(clap::Arg::new("local")));
        let given = ["serve"].iter().chain(arguments);
        ZapOptions::from_arg_matches(&command.try_get_matches_from(given).unwrap()).unwrap()
    }

    #[test]
    fn levels_of_zap_are_levels_of_ours() {
        for (level, filter) in [
            ("debug", "debug"),
            ("info", "info"),
            ("error", "error"),
            ("panic", "error"),
            ("1", "debug"),
            ("5", "trace"),
        ] {
            assert_eq!(options(&["--zap-log-level", level]).filter(), Some(filter), "{level}");
        }
        assert_eq!(options(&["--zap-devel=false"]).filter(), None);
    }

    #[test]
    fn the_console_of_zap_is_text() {
        assert_eq!(options(&["--zap-encoder=console"]).format(), Some(LogFormat::Text));
        assert_eq!(options(&[]).format(), None);
    }
}

//! Log lines on standard error.

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// How a log line looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line of text.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The options of commands that log.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LogOptions {
    /// How a log line looks; text, unless a configuration says otherwise
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,
    /// What is logged: error, warn, info, debug, trace, or a filter such as `gateward_server=debug`; info, unless a
    /// configuration says otherwise
    #[arg(long, value_name = "FILTER", env = "GATEWARD_LOG", hide_env_values = true)]
    log_level: Option<String>,
}

impl LogOptions {
    /// Installs the subscriber, with what holds where the options say nothing. A process has one; a second call changes
    /// nothing.
    pub(crate) fn install(&self, filter: &str, format: LogFormat) -> anyhow::Result<()> {
        let filter = self.log_level.as_deref().unwrap_or(filter);
        let filter = EnvFilter::try_new(filter).map_err(|error| anyhow::anyhow!("--log-level {filter:?}: {error}"))?;
        let lines = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_span_events(FmtSpan::NONE)
            .with_ansi(std::io::stderr().is_terminal())
            .with_writer(std::io::stderr);
        let _ = match self.log_format.unwrap_or(format) {
            LogFormat::Text => lines.try_init(),
            LogFormat::Json => lines.json().flatten_event(true).try_init(),
        };
        Ok(())
    }
}

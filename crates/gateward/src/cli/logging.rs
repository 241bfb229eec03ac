//! Log lines on standard error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Stderr, Write};
use std::sync::{Arc, Mutex, PoisonError};

use gateward_core::terminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::cli::log_stream::LogStream;
use crate::config::LogFormat;

/// The options of commands that log.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LogOptions {
    /// How a log line looks; text, unless a configuration says otherwise
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,
    /// What is logged: error, warn, info, debug, trace, or a filter such as `gateward_server=debug`; info, unless a
    /// configuration says otherwise
    #[arg(long, value_name = "FILTER", hide_env_values = true)]
    log_level: Option<String>,
}

/// The client warns of an answer that it can't read with all of its text: objects of anybody. What asked it says why.
const CLIENT: &str = "kube_client=error";

impl LogOptions {
    /// Installs the subscriber, with what holds where the options say nothing. A process has one; a second call changes
    /// nothing.
    pub(crate) fn install(&self, filter: &str, format: LogFormat) -> anyhow::Result<()> {
        let filter = self.log_level.as_deref().unwrap_or(filter);
        let filter = EnvFilter::try_new(format!("{CLIENT},{filter}"))
            .map_err(|error| anyhow::anyhow!("--log-level {filter:?}: {error}"))?;
        let format = self.log_format.unwrap_or(format);
        let stream = Arc::new(Mutex::new(LogStream::new(io::stderr())));
        let lines = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_span_events(FmtSpan::NONE)
            .with_ansi(io::stderr().is_terminal())
            .with_writer(move || Plain { to: Arc::clone(&stream), format });
        let _ = match format {
            LogFormat::Text => lines.try_init(),
            LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).try_init(),
        };
        Ok(())
    }
}

/// Standard error, on which no character hides or rearranges what stands there.
struct Plain {
    to: Arc<Mutex<LogStream<Stderr>>>,
    format: LogFormat,
}

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stream = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_line(escaped(&String::from_utf8_lossy(bytes), self.format).as_bytes(), |lost| {
            lines_lost(lost, self.format)
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line that says how many found no room.
fn lines_lost(lost: u64, format: LogFormat) -> String {
    let message = "log lines were lost: nobody read standard error";
    match format {
        LogFormat::Text => format!(" WARN gateward: {message} lost={lost}\n"),
        LogFormat::Json => {
            let line = serde_json::json!({"level": "WARN", "message": message, "lost": lost});
            format!("{line}\n")
        }
    }
}

/// A line, with what a terminal obeys as each format spells it.
fn escaped(line: &str, format: LogFormat) -> Cow<'_, str> {
    match format {
        LogFormat::Text => terminal::coloured(line),
        LogFormat::Json => terminal::json(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "\u{80}\u{9b}\u{9f}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}";

    #[test]
    fn what_misleads_is_spelled_out() {
        assert_eq!(escaped("a\u{202e}b", LogFormat::Text), "a\\u{202e}b");
        assert_eq!(escaped("a\u{9b}31mb", LogFormat::Json), "a\\u009b31mb");
        for format in [LogFormat::Text, LogFormat::Json] {
            assert!(escaped(ALL, format).is_ascii());
        }
    }

    #[test]
    fn in_json_it_is_still_the_same_text() {
        let line = serde_json::to_string(ALL).unwrap();
        assert_eq!(serde_json::from_str::<String>(&escaped(&line, LogFormat::Json)).unwrap(), ALL);
    }

    #[test]
    fn other_letters_stay() {
        for line in ["plain\n", "Übergröße 日本 \u{1f9a6}\u{a0}\u{200d}\n"] {
            assert!(matches!(escaped(line, LogFormat::Text), Cow::Borrowed(same) if same == line));
        }
    }
}

//! A stream of log lines that goes on while nobody reads it.
//!
//! The runtime of containers may stop reading the pipe behind standard error. A write would then block, and with it every
//! thread that has a line to write: no review would be answered any more. A line that finds no room is lost instead, and
//! said to be.

use std::io::Write;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How long a line waits for room, with all that it has. What reads may be a moment behind; after a line that was lost none
/// waits.
const PATIENCE: Duration = Duration::from_millis(100);

/// So much can be written to a pipe that has any room: <https://man7.org/linux/man-pages/man7/pipe.7.html>, `PIPE_BUF`.
const PIECE: usize = 4096;

/// The stream, and what was lost of it.
pub(super) struct LogStream<S> {
    to: S,
    /// Lines since the last one that found room.
    lost: u64,
    /// The last line found room for its beginning alone.
    is_torn: bool,
}

impl<S: Write + AsFd> LogStream<S> {
    pub(super) const fn new(to: S) -> Self {
        Self { to, lost: 0, is_torn: false }
    }

    /// Writes a line. Where some were lost before it, `note` makes one of their number.
    pub(super) fn write_line(&mut self, line: &[u8], note: impl FnOnce(u64) -> String) {
        let until = Instant::now() + if self.lost == 0 { PATIENCE } else { Duration::ZERO };
        if !self.has_room(until) {
            self.lost = self.lost.saturating_add(1);
            return;
        }
        let mut text = Vec::new();
        if self.lost > 0 {
            text.extend_from_slice(if std::mem::take(&mut self.is_torn) { b"\n" } else { b"" });
            text.extend_from_slice(note(std::mem::take(&mut self.lost)).as_bytes());
        }
        text.extend_from_slice(line);
        for piece in text.chunks(PIECE) {
            if !self.has_room(until) {
                (self.lost, self.is_torn) = (1, true);
                return;
            }
            // Who can't be told anything can't be told that either.
            let _ = self.to.write_all(piece);
        }
    }

    fn has_room(&self, until: Instant) -> bool {
        loop {
            let patience = until.saturating_duration_since(Instant::now());
            let nanoseconds = patience.subsec_nanos().into();
            let timeout = Timespec { tv_sec: patience.as_secs().try_into().unwrap_or(0), tv_nsec: nanoseconds };
            match poll(&mut [PollFd::new(&self.to, PollFlags::OUT)], Some(&timeout)) {
                // A signal came.
                Err(Errno::INTR) => {}
                Ok(ready) => return ready > 0,
                // Where it can't be learned, a write says why.
                Err(_) => return true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, PipeWriter, Read, pipe};

    use super::*;

    fn unread() -> (LogStream<PipeWriter>, PipeReader) {
        let (reader, writer) = pipe().unwrap();
        (LogStream::new(writer), reader)
    }

    fn note(lost: u64) -> String {
        format!("{lost} lost\n")
    }

    /// What can be read at once, while the other end stays open.
    fn read(reader: &mut PipeReader) -> String {
        let mut text = Vec::new();
        while poll(&mut [PollFd::new(reader, PollFlags::IN)], Some(&Timespec::default())) == Ok(1) {
            let mut piece = [0; PIECE];
            let length = reader.read(&mut piece).unwrap();
            text.extend_from_slice(&piece[..length]);
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn nobody_waits_for_a_reader_that_has_gone_and_it_is_told_what_it_missed() {
        let (mut lines, mut reader) = unread();
        // A write without room would never return.
        for number in 0..20_000 {
            lines.write_line(format!("line {number}\n").as_bytes(), note);
        }
        let text = read(&mut reader);
        let seen = text.lines().count();
        assert!(seen < 20_000 && text.ends_with(&format!("line {}\n", seen - 1)), "{seen}");
        lines.write_line(b"again\n", note);
        assert_eq!(read(&mut reader), format!("{} lost\nagain\n", 20_000 - seen));
        lines.write_line(b"as ever\n", note);
        assert_eq!(read(&mut reader), "as ever\n");
    }

    #[test]
    fn a_line_that_is_longer_than_the_room_is_torn_and_the_next_begins_anew() {
        let (mut lines, mut reader) = unread();
        let long = "x".repeat(1 << 20);
        lines.write_line(long.as_bytes(), note);
        let torn = read(&mut reader);
        assert!(!torn.is_empty() && torn.len() < long.len(), "{}", torn.len());
        lines.write_line(b"next\n", note);
        assert_eq!(read(&mut reader), "\n1 lost\nnext\n");
    }

    #[test]
    fn a_long_line_is_written_whole_while_somebody_reads() {
        let (mut lines, mut reader) = unread();
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        });
        let long = format!("{}\n", "x".repeat(1 << 20));
        lines.write_line(long.as_bytes(), note);
        drop(lines);
        assert!(reading.join().unwrap() == long);
    }
}

//! A stream of log lines that doesn't block where its reader has stopped.
//!
//! A container runtime may stop reading the pipe behind standard error. A write would then block, and with it every thread
//! that logs: no review would be answered any more. A line that finds no room is dropped and counted instead.

use std::borrow::Cow;
use std::io::Write;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How long a line may take to be written: a reader may be a moment behind. After a dropped line there is no waiting.
const WRITE_TIMEOUT: Duration = Duration::from_millis(100);

/// So much can be written to a pipe that has any room: <https://man7.org/linux/man-pages/man7/pipe.7.html>, `PIPE_BUF`.
const PIECE: usize = 4096;

/// The stream, and what was dropped of it.
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

    /// Writes a line. Where some were dropped before it, `note` makes one of their number.
    pub(super) fn write_line(&mut self, line: &[u8], note: impl FnOnce(u64) -> String) {
        let timeout = if self.lost == 0 { WRITE_TIMEOUT } else { Duration::ZERO };
        let deadline = Instant::now() + timeout;
        let text = match self.lost {
            0 => Cow::Borrowed(line),
            lost => Cow::Owned([if self.is_torn { "\n" } else { "" }.as_bytes(), note(lost).as_bytes(), line].concat()),
        };
        for (position, piece) in text.chunks(PIECE).enumerate() {
            if !self.has_room(deadline) {
                (self.lost, self.is_torn) =
                    if position == 0 { (self.lost.saturating_add(1), self.is_torn) } else { (1, true) };
                return;
            }
            // There is no other place to report a failure.
            let _ = self.to.write_all(piece);
        }
        (self.lost, self.is_torn) = (0, false);
    }

    fn has_room(&self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let seconds = left.as_secs().try_into().unwrap_or(0);
            let timeout = Timespec { tv_sec: seconds, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.to, PollFlags::OUT)], Some(&timeout)) {
                // A signal came.
                Err(Errno::INTR) => {}
                Ok(ready) => return ready > 0,
                // Without an answer the write fails for itself.
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
    fn a_reader_that_stops_blocks_no_writer_and_reads_what_it_missed() {
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

//! Reading no more than a command can do with: a device or a pipe may never end.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use anyhow::Context as _;

/// How long a file of facts or configuration may be.
pub(crate) const SETTINGS: u64 = 1 << 20;

/// How long a file of manifests, or a review on one line, may be.
pub(crate) const MANIFESTS: u64 = 64 << 20;

/// The bytes of a file.
pub(crate) fn read(path: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    let bytes = File::open(path).and_then(|file| within(file, limit));
    bytes.with_context(|| format!("cannot read {}", path.display()))
}

/// All bytes of a source.
pub(crate) fn within(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = source.take(limit + 1).read_to_end(&mut bytes)?;
    if count as u64 > limit {
        let text = format!("it is longer than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// What came of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// It was read.
    Read,
    /// It was passed over.
    TooLong,
    /// There are no more.
    End,
}

/// Reads the next line into `line`.
pub(crate) fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>, limit: u64) -> io::Result<Line> {
    line.clear();
    let count = input.by_ref().take(limit + 1).read_until(b'\n', line)?;
    if count == 0 {
        return Ok(Line::End);
    }
    if count as u64 <= limit || line.ends_with(b"\n") {
        return Ok(Line::Read);
    }
    line.clear();
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_never_ends_is_read_to_the_limit() {
        assert_eq!(within(&b"1234"[..], 4).unwrap(), b"1234");
        let error = within(io::repeat(0), SETTINGS).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 1 MiB");
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let (mut input, mut line, mut read) = (&b"abc\n0123456789\nabcd\nend"[..], Vec::new(), Vec::new());
        loop {
            let state = next_line(&mut input, &mut line, 4).unwrap();
            read.push((state, String::from_utf8(line.clone()).unwrap()));
            if state == Line::End {
                break;
            }
        }
        let expected =
            [(Line::Read, "abc\n"), (Line::TooLong, ""), (Line::Read, "abcd\n"), (Line::Read, "end"), (Line::End, "")];
        assert_eq!(read, expected.map(|(state, text)| (state, text.to_owned())));
    }
}

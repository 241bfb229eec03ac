//! Reading and writing PEM.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// More than this is not read: no object of a cluster can hold it.
pub(crate) const LONGEST: usize = 1 << 20;

const BEGIN: &[u8] = b"-----BEGIN ";
const COLUMNS: usize = 64;

/// The parts of a text that start with a line `-----BEGIN …`; what stands before the first is left out.
///
/// A section that was cut off ends where the next one begins, so it spoils no other. That is how Go reads PEM, and with
/// it the API server.
pub(crate) fn sections(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = from_next_begin(text, 0);
    std::iter::from_fn(move || {
        let all = rest?;
        rest = from_next_begin(all, BEGIN.len());
        Some(&all[..all.len() - rest.map_or(0, <[u8]>::len)])
    })
}

/// A section with its label.
pub(crate) fn encode(label: &str, der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, left) = rest.split_at(rest.len().min(COLUMNS));
        pem.push_str(line);
        pem.push('\n');
        rest = left;
    }
    pem.push_str("-----END ");
    pem.push_str(label);
    pem.push_str("-----\n");
    pem
}

fn from_next_begin(text: &[u8], skip: usize) -> Option<&[u8]> {
    let starts_line = |at: usize| at == 0 || matches!(text[at - 1], b'\n' | b'\r');
    text.windows(BEGIN.len())
        .enumerate()
        .skip(skip)
        .find(|(at, window)| *window == BEGIN && starts_line(*at))
        .map(|(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_start_at_the_beginning_of_a_line_only() {
        let text = b"note -----BEGIN A-----\n-----BEGIN B-----\nx\r-----BEGIN C-----";
        let found: Vec<_> = sections(text).collect();
        assert_eq!(found, [&b"-----BEGIN B-----\nx\r"[..], b"-----BEGIN C-----"]);
    }

    #[test]
    fn lines_have_64_columns() {
        let pem = encode("X", &[0; 49]);
        let lines: Vec<_> = pem.lines().map(str::len).collect();
        assert_eq!(lines, [17, 64, 4, 15]);
    }
}

//! Rust text with its literals and comments blanked out, so that braces and words can be counted.

/// The text with a space for every character of a literal or comment; lines stay lines.
pub fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind_word = masked.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if let Some(length) = opaque(rest, behind_word) {
            masked.extend(rest[..length].chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = &rest[length..];
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    masked
}

/// The length of the literal or comment that `text` starts with.
fn opaque(text: &str, behind_word: bool) -> Option<usize> {
    comment(text).or_else(|| string(text)).or_else(|| character(text)).or_else(|| {
        // A word that ends in r is no prefix of a string.
        if behind_word { None } else { raw_string(text) }
    })
}

fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with("/*").then(|| block_comment(text))
}

/// Block comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(text: &str) -> Option<usize> {
    text.starts_with('"').then(|| 1 + end_of_quoted(&text[1..], '"'))
}

/// A character, as opposed to a lifetime.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    let closed = first == '\\' || inner[first.len_utf8()..].starts_with('\'');
    closed.then(|| 1 + end_of_quoted(inner, '\''))
}

/// The length up to and with the closing quote; what follows a backslash doesn't close.
fn end_of_quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices();
    while let Some((at, found)) = characters.next() {
        if found == quote {
            return at + 1;
        }
        if found == '\\' {
            characters.next();
        }
    }
    text.len()
}

fn raw_string(text: &str) -> Option<usize> {
    let unprefixed = text.strip_prefix(['b', 'c']).unwrap_or(text).strip_prefix('r')?;
    let hashes = unprefixed.len() - unprefixed.trim_start_matches('#').len();
    let inner = unprefixed[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let opened = text.len() - inner.len();
    Some(inner.find(&close).map_or(text.len(), |at| opened + at + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_what_braces_may_hide_in() {
        assert_eq!(masked(r#"a("{") b"#), "a(   ) b");
        assert_eq!(masked(r#"a("\"{") b"#), "a(     ) b");
        assert_eq!(masked("a('{') b"), "a(   ) b");
        assert_eq!(masked(r"a('\'') b"), "a(    ) b");
        assert_eq!(masked("a // {\nb"), "a     \nb");
        assert_eq!(masked("a /* /* { */ } */ b"), format!("a {} b", " ".repeat(15)));
        assert_eq!(masked("a r#\"{\"}\"# b"), "a          b");
    }

    #[test]
    fn keeps_lifetimes_and_words_that_end_in_r() {
        assert_eq!(masked("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(masked("for"), "for");
    }

    #[test]
    fn reads_to_the_end_of_what_never_ends() {
        assert_eq!(masked("a \"b"), "a   ");
        assert_eq!(masked("a /* b"), "a     ");
        assert_eq!(masked("r#\"b"), "    ");
    }
}

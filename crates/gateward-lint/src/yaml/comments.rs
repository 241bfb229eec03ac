//! Comments that a text has lost.

use std::collections::HashMap;

use granit_parser::{Event, Parser};

use super::Source;
use super::limits::MAX_DEPTH;

/// A comment of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The line, counted from 1.
    pub line: usize,
    /// The column of its `#`, counted from 1.
    pub column: usize,
    /// What stands behind the `#`.
    pub text: String,
}

impl Source {
    /// The comments that `rewritten` lacks; what stands there at another place isn't lost. None where one of the texts
    /// isn't read to its end.
    ///
    /// ```
    /// let source = gateward_lint::yaml::read("# head\nkind: A # why\n");
    /// let lost = source.comments_lost_in("kind: B # head\n");
    /// assert_eq!(lost.iter().map(|comment| (comment.line, comment.column, comment.text.trim())).collect::<Vec<_>>(), [(2, 9, "why")]);
    /// ```
    pub fn comments_lost_in(&self, rewritten: &str) -> Vec<Comment> {
        let Some((before, after)) = comments(&self.text).zip(comments(rewritten)) else { return Vec::new() };
        let mut left: HashMap<&str, usize> = HashMap::new();
        for comment in &after {
            *left.entry(comment.text.trim()).or_default() += 1;
        }
        let is_lost = |comment: &Comment| match left.get_mut(comment.text.trim()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        before.into_iter().filter(is_lost).collect()
    }
}

fn comments(text: &str) -> Option<Vec<Comment>> {
    let mut options = granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
    options.set_emit_comments(true);
    let mut comments = Vec::new();
    for event in Parser::new_from_str_with_options(text, options) {
        if let (Event::Comment(text, _), span) = event.ok()? {
            comments.push(Comment { line: span.start.line(), column: span.start.col() + 1, text: text.into_owned() });
        }
    }
    Some(comments)
}

//! What containers have written, for `kubectl logs`.

use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{Response, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;

use super::answer::Answer;
use super::entry::Entry;

/// How often a log is looked at again by those who follow it.
const GLANCE: Duration = Duration::from_millis(200);

/// The log of a container; `None` where it has none.
pub(crate) fn answer(pod: &Arc<Entry>, container: &str, uri: &Uri) -> Option<Answer> {
    let mut log = File::open(pod.log_file(container)).ok()?;
    let mut written = Vec::new();
    // What can't be read isn't there.
    let _ = log.read_to_end(&mut written);
    let query = |name: &str| uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix(name));
    let lines = query("tailLines=").and_then(|lines| lines.parse().ok()).unwrap_or(usize::MAX);
    let begin = Bytes::copy_from_slice(last(&written, lines));
    Some(if query("follow=") == Some("true") {
        Response::new(follow(Arc::clone(pod), container.to_owned(), log, begin))
    } else {
        Response::new(Full::new(begin).boxed())
    })
}

/// A log from its beginning, and then what comes, as long as the container runs.
fn follow(pod: Arc<Entry>, container: String, log: File, begin: Bytes) -> BoxBody<Bytes, Infallible> {
    let pieces = stream::unfold((log, Some(begin)), move |(mut log, begin)| {
        let (pod, container) = (Arc::clone(&pod), container.clone());
        async move {
            if let Some(begin) = begin.filter(|begin| !begin.is_empty()) {
                return Some((Ok(Frame::data(begin)), (log, None)));
            }
            loop {
                let runs = pod.running.lock().unwrap().contains_key(&container);
                let mut more = Vec::new();
                // What can't be read isn't there.
                let _ = log.read_to_end(&mut more);
                if !more.is_empty() {
                    return Some((Ok(Frame::data(more.into())), (log, None)));
                }
                if !runs {
                    return None;
                }
                tokio::time::sleep(GLANCE).await;
            }
        }
    });
    BodyExt::boxed(StreamBody::new(pieces))
}

/// The last lines of a text.
fn last(text: &[u8], lines: usize) -> &[u8] {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1);
    // The end of the last line begins no other.
    let begins: Vec<usize> = std::iter::once(0).chain(ends).filter(|begin| *begin < text.len()).collect();
    let begin = begins.len().checked_sub(lines).map_or(0, |skipped| begins.get(skipped).copied().unwrap_or(text.len()));
    &text[begin..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_last_lines_whether_or_not_the_last_one_has_an_end() {
        assert_eq!(last(b"a\nb\nc\n", 2), b"b\nc\n");
        assert_eq!(last(b"a\nb\nc", 2), b"b\nc");
        assert_eq!(last(b"a\nb", 9), b"a\nb");
        assert_eq!(last(b"a\n", 0), b"");
        assert_eq!(last(b"", 1), b"");
    }
}

//! Answers about tokens, for as long as they may be believed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gateward_certs::Fingerprint;
use tokio::time::Instant;

use super::access::Access;

/// How long a permission holds: Kubernetes' own servers take a minute too.
const GRANTED: Duration = Duration::from_mins(1);
/// How long a refusal holds; a permission may just have been granted.
const REFUSED: Duration = Duration::from_secs(10);
/// How many answers are kept. There are few readers, and a crowd of made-up tokens must not fill the memory.
const LIMIT: usize = 256;

/// The answers. Of a token nothing is kept but its SHA-256.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<HashMap<(Fingerprint, String), Answer>>);

#[derive(Debug, Clone)]
struct Answer {
    access: Access,
    until: Instant,
}

impl Remembered {
    /// What is known of a token.
    pub(super) fn access(&self, owner: Fingerprint, path: &str) -> Option<Access> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = answers.get(&(owner, path.to_owned()));
        answer.filter(|answer| answer.until > Instant::now()).map(|answer| answer.access.clone())
    }

    /// Keeps an answer, unless it was none.
    pub(super) fn remember(&self, owner: Fingerprint, path: &str, access: &Access) {
        let holds = match access {
            Access::Granted => GRANTED,
            Access::Unauthenticated | Access::Forbidden => REFUSED,
            Access::Unknown(_) => return,
        };
        let now = Instant::now();
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|_, answer| answer.until > now);
        if answers.len() >= LIMIT {
            forget_one(&mut answers);
        }
        answers.insert((owner, path.to_owned()), Answer { access: access.clone(), until: now + holds });
    }
}

/// Forgets the answer that would end first: refusals before permissions.
fn forget_one(answers: &mut HashMap<(Fingerprint, String), Answer>) {
    let first = answers.iter().min_by_key(|(_, answer)| answer.until).map(|(key, _)| key.clone());
    first.and_then(|key| answers.remove(&key));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(number: usize) -> Fingerprint {
        Fingerprint::of(&number.to_be_bytes())
    }

    #[tokio::test(start_paused = true)]
    async fn a_permission_holds_for_a_minute_and_a_refusal_for_ten_seconds() {
        let remembered = Remembered::default();
        remembered.remember(owner(1), "/metrics", &Access::Granted);
        remembered.remember(owner(2), "/metrics", &Access::Forbidden);
        assert_eq!(remembered.access(owner(1), "/other"), None);
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(remembered.access(owner(2), "/metrics"), None);
        assert_eq!(remembered.access(owner(1), "/metrics"), Some(Access::Granted));
        tokio::time::advance(Duration::from_secs(50)).await;
        assert_eq!(remembered.access(owner(1), "/metrics"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_could_not_be_asked_is_asked_again() {
        let remembered = Remembered::default();
        remembered.remember(owner(1), "/metrics", &Access::Unknown("down".into()));
        assert_eq!(remembered.access(owner(1), "/metrics"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_strangers_takes_no_permission_away() {
        let remembered = Remembered::default();
        remembered.remember(owner(0), "/metrics", &Access::Granted);
        for stranger in 1..10 * LIMIT {
            remembered.remember(owner(stranger), "/metrics", &Access::Unauthenticated);
        }
        assert_eq!(remembered.access(owner(0), "/metrics"), Some(Access::Granted));
        assert!(remembered.0.lock().unwrap().len() <= LIMIT);
    }
}

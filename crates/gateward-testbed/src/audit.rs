//! What users asked the API server for, out of its audit log.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::bed::Bed;

/// How often the log is looked at by somebody who waits.
const GLANCE: Duration = Duration::from_millis(50);

/// The audit log from some moment on. A line is there before the client has its answer.
#[derive(Debug, Clone)]
pub struct Audit {
    file: PathBuf,
    from: u64,
}

/// A request, once it was answered; of a watch also its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// Who asked, in the end: the impersonated user where there is one.
    pub user: String,
    /// Such as `get`, `list`, `watch` and `patch`.
    pub verb: String,
    /// The API group; empty for the core and where no resource is meant.
    pub group: String,
    /// The plural, with the subresource behind a slash; empty where no resource is meant.
    pub resource: String,
    /// The object's name; empty where none is named.
    pub name: String,
    /// Its namespace; empty where there is none.
    pub namespace: String,
    /// Path and query.
    pub uri: String,
    /// The HTTP status of the answer.
    pub code: u16,
}

impl Bed {
    /// What is asked from now on.
    pub fn audit(&self) -> anyhow::Result<Audit> {
        let file = self.folder().join("audit.log");
        let from = std::fs::metadata(&file)?.len();
        Ok(Audit { file, from })
    }

    /// What was asked since the beginning.
    pub fn whole_audit(&self) -> Audit {
        Audit { file: self.folder().join("audit.log"), from: 0 }
    }
}

impl Audit {
    /// The requests of a user, in the order of their answers.
    pub fn of(&self, user: &str) -> anyhow::Result<Vec<AuditEvent>> {
        let mut file = File::open(&self.file)?;
        file.seek(SeekFrom::Start(self.from))?;
        let mut events = Vec::new();
        for line in BufReader::new(file).lines() {
            let line = line?;
            // Most lines are of others and long; the last one may still be in the writing.
            if !line.contains(user) {
                continue;
            }
            let Ok(written) = serde_json::from_str::<Written>(&line) else { continue };
            let event = AuditEvent::from(written);
            if event.user == user {
                events.push(event);
            }
        }
        Ok(events)
    }

    /// The requests of a user that were forbidden.
    pub fn forbidden(&self, user: &str) -> anyhow::Result<Vec<AuditEvent>> {
        let mut events = self.of(user)?;
        events.retain(|event| event.code == 403);
        Ok(events)
    }

    /// The requests of a user that were forbidden, where none of the kind was ever granted.
    ///
    /// An API server that has just started refuses everybody for a moment, until it has read the roles.
    pub fn never_granted(&self, user: &str) -> anyhow::Result<Vec<AuditEvent>> {
        Ok(without_the_granted(self.of(user)?))
    }

    /// Waits for a request of a user; `None` where none comes in time.
    pub async fn comes(
        &self,
        user: &str,
        within: Duration,
        wanted: impl Fn(&AuditEvent) -> bool,
    ) -> anyhow::Result<Option<AuditEvent>> {
        let start = Instant::now();
        loop {
            let found = self.of(user)?.into_iter().find(&wanted);
            if found.is_some() || start.elapsed() > within {
                return Ok(found);
            }
            tokio::time::sleep(GLANCE).await;
        }
    }
}

fn without_the_granted(events: Vec<AuditEvent>) -> Vec<AuditEvent> {
    let granted: Vec<AuditEvent> = events.iter().filter(|event| event.is_granted()).cloned().collect();
    let mut forbidden = events;
    forbidden.retain(|event| event.code == 403 && !granted.iter().any(|granted| granted.is_like(event)));
    forbidden
}

impl AuditEvent {
    /// Whether the user may do this, whatever became of it.
    fn is_granted(&self) -> bool {
        matches!(self.code, 200..=299 | 404 | 409 | 422)
    }

    /// Whether the same right is needed for both.
    fn is_like(&self, other: &Self) -> bool {
        let right = |event: &Self| {
            [&event.verb, &event.group, &event.resource, &event.namespace, &event.name].map(String::clone)
        };
        right(self) == right(other)
    }
}

impl Display for AuditEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of {} ({}): {}", self.verb, self.uri, self.user, self.resource, self.code)
    }
}

/// A line of the log, as far as it is looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    verb: String,
    #[serde(rename = "requestURI")]
    uri: String,
    user: WrittenUser,
    impersonated_user: Option<WrittenUser>,
    #[serde(default)]
    object_ref: WrittenObject,
    #[serde(default)]
    response_status: WrittenStatus,
}

#[derive(Debug, Deserialize)]
struct WrittenUser {
    username: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenObject {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WrittenStatus {
    code: u16,
}

impl From<Written> for AuditEvent {
    fn from(written: Written) -> Self {
        let Written { verb, uri, user, impersonated_user, object_ref, response_status } = written;
        let WrittenObject { api_group, mut resource, subresource, namespace, name } = object_ref;
        if !subresource.is_empty() {
            resource = format!("{resource}/{subresource}");
        }
        let user = impersonated_user.unwrap_or(user).username;
        Self { user, verb, group: api_group, resource, name, namespace, uri, code: response_status.code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> AuditEvent {
        AuditEvent::from(serde_json::from_str::<Written>(line).unwrap())
    }

    #[test]
    fn tells_what_was_asked_about_an_object() {
        let event = event(
            r#"{"kind":"Event","stage":"ResponseComplete","requestURI":"/apis/nvidia.com/v1beta1/namespaces/n/dynamomodels/m/status?a=b",
                "verb":"patch","user":{"username":"admin"},"impersonatedUser":{"username":"otter"},
                "objectRef":{"resource":"dynamomodels","namespace":"n","name":"m","apiGroup":"nvidia.com","apiVersion":"v1","subresource":"status"},
                "responseStatus":{"metadata":{},"code":403}}"#,
        );
        assert_eq!((event.user.as_str(), event.verb.as_str(), event.code), ("otter", "patch", 403));
        assert_eq!((event.group.as_str(), event.resource.as_str()), ("nvidia.com", "dynamomodels/status"));
        assert_eq!((event.namespace.as_str(), event.name.as_str()), ("n", "m"));
    }

    #[test]
    fn what_was_granted_at_another_time_is_not_held_against_a_user() {
        let asked = |verb: &str, code: u16| {
            event(&format!(
                r#"{{"requestURI":"/x","verb":"{verb}","user":{{"username":"a"}},
                    "objectRef":{{"resource":"secrets","name":"s"}},"responseStatus":{{"code":{code}}}}}"#
            ))
        };
        let left = without_the_granted(vec![asked("get", 200), asked("get", 403), asked("watch", 403)]);
        assert_eq!(left, [asked("watch", 403)]);
        assert_eq!(without_the_granted(vec![asked("get", 500), asked("get", 403)]).len(), 1);
    }

    #[test]
    fn tells_of_requests_that_are_about_no_object() {
        let event =
            event(r#"{"requestURI":"/version","verb":"get","user":{"username":"a"},"responseStatus":{"code":200}}"#);
        assert_eq!((event.resource.as_str(), event.uri.as_str()), ("", "/version"));
    }
}

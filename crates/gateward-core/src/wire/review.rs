//! AdmissionReview on the wire, v1 and v1beta1: read once, borrowed from the body; answered with the caller's uid and
//! version. Follows <https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/>.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};
use serde::{Deserialize as DeserializeDerive, Serialize};
use serde_json::value::RawValue;

use crate::json::decode;
use crate::json::nullable::null_as_default;
use crate::json::patch::Patch;
use crate::json::reading::Allowance;
use crate::json::strict::Strict;
use crate::rule::resource::GroupVersionKind;
use crate::terminal;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::operation::Operation;
use crate::wire::request::{Addressed, DryRun, GroupVersionResource, RawReview, Request, UserInfo};
pub use crate::wire::review_stage::Review;
pub use crate::wire::review_version::ReviewVersion;

/// As [`null_as_default`], for a member that is an object.
fn object_or_null<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::<Strict<T>>::deserialize(deserializer)?.map(|Strict(member)| member).unwrap_or_default())
}

#[derive(DeserializeDerive)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    request: Option<Strict<WireRequest<'a>>>,
}

#[derive(DeserializeDerive)]
#[serde(rename_all = "camelCase")]
struct WireRequest<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    uid: String,
    #[serde(default, deserialize_with = "object_or_null")]
    kind: GroupVersionKind,
    #[serde(default, deserialize_with = "object_or_null")]
    resource: GroupVersionResource,
    #[serde(default, deserialize_with = "null_as_default")]
    sub_resource: String,
    request_kind: Option<Strict<GroupVersionKind>>,
    #[serde(borrow)]
    request_resource: Option<Strict<BorrowedResource<'a>>>,
    #[serde(borrow)]
    request_sub_resource: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "null_as_default")]
    name: String,
    #[serde(default, deserialize_with = "null_as_default")]
    namespace: String,
    #[serde(borrow)]
    operation: Cow<'a, str>,
    #[serde(borrow)]
    user_info: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    old_object: Option<&'a RawValue>,
    dry_run: Option<bool>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
}

/// What the client addressed, which is nearly always what the webhook is asked about, and then not kept.
#[derive(DeserializeDerive)]
struct BorrowedResource<'a> {
    #[serde(borrow, default)]
    group: Cow<'a, str>,
    #[serde(borrow, default)]
    version: Cow<'a, str>,
    #[serde(borrow, default)]
    resource: Cow<'a, str>,
}

impl BorrowedResource<'_> {
    fn is(&self, other: &GroupVersionResource) -> bool {
        let GroupVersionResource { group, version, resource } = other;
        self.group == *group && self.version == *version && self.resource == *resource
    }

    fn into_owned(self) -> GroupVersionResource {
        GroupVersionResource {
            group: self.group.into_owned(),
            version: self.version.into_owned(),
            resource: self.resource.into_owned(),
        }
    }
}

/// A review as it came: the request, and the objects still raw.
pub struct AdmissionReview<'a> {
    /// What handlers may know beside the objects; facts and times are not in it yet.
    pub request: Request,
    /// What is being done; `None` where there is no such operation.
    pub operation: Option<Operation>,
    /// The same in the caller's words.
    pub operation_name: Cow<'a, str>,
    /// The new object; absent on DELETE.
    pub object: Option<&'a RawValue>,
    /// The stored object; absent on CREATE.
    pub old_object: Option<&'a RawValue>,
    /// The options of the operation.
    pub options: Option<&'a RawValue>,
}

impl<'a> AdmissionReview<'a> {
    /// Reads the envelope. Objects and options are only scanned.
    pub fn read(body: &'a [u8]) -> Result<Self, WebhookError> {
        let text = std::str::from_utf8(body).map_err(|error| unreadable(&format!("the body is not UTF-8: {error}")))?;
        let Strict(envelope): Strict<Envelope<'a>> =
            serde_json::from_str(text).map_err(|error| unreadable(&error.to_string()))?;
        if envelope.kind != "AdmissionReview" {
            return Err(unreadable(&format!("kind is {:?}, not \"AdmissionReview\"", cut(&envelope.kind))));
        }
        let version = ReviewVersion::parse(&envelope.api_version).ok_or_else(|| {
            let found = cut(&envelope.api_version);
            unreadable(&format!("apiVersion is {found:?}, neither admission.k8s.io/v1 nor admission.k8s.io/v1beta1"))
        })?;
        let Strict(wire) = envelope.request.ok_or_else(|| unreadable("the review has no request"))?;
        if wire.uid.trim().is_empty() {
            return Err(unreadable("the request has no uid"));
        }
        wire.into_review(version)
    }
}

impl AdmissionReview<'_> {
    /// The same about another new object.
    pub(crate) fn with_object<'b>(&'b self, object: &'b RawValue) -> AdmissionReview<'b> {
        AdmissionReview {
            request: self.request.clone(),
            operation: self.operation,
            operation_name: Cow::Borrowed(&self.operation_name),
            object: Some(object),
            old_object: self.old_object,
            options: self.options,
        }
    }

    /// The same with its texts in the request, for handlers that read them.
    pub(crate) fn with_raw_review(&self) -> AdmissionReview<'_> {
        let text = |part: Option<&RawValue>| part.map(|raw| raw.get().into());
        let raw =
            RawReview { object: text(self.object), old_object: text(self.old_object), options: text(self.options) };
        AdmissionReview {
            request: Request { raw: Some(Arc::new(raw)), ..self.request.clone() },
            operation: self.operation,
            operation_name: Cow::Borrowed(&self.operation_name),
            object: self.object,
            old_object: self.old_object,
            options: self.options,
        }
    }
}

impl<'a> WireRequest<'a> {
    fn into_review(self, version: ReviewVersion) -> Result<AdmissionReview<'a>, WebhookError> {
        let user = self.user_info.map(|raw| read_bounded(raw.get())).transpose()?;
        let operation = Operation::named(&self.operation);
        let sub_resource = non_empty(self.sub_resource);
        let part = self.request_sub_resource.filter(|name| !name.is_empty());
        let is_other = |addressed: &BorrowedResource<'_>| {
            !addressed.is(&self.resource) || part.as_deref() != sub_resource.as_deref()
        };
        let addressed = self.request_resource.map(|Strict(resource)| resource).filter(is_other);
        let addressed = addressed.map(|resource| {
            Box::new(Addressed { resource: resource.into_owned(), sub_resource: part.map(Cow::into_owned) })
        });
        let request = Request {
            review_version: version,
            uid: self.uid,
            operation,
            kind: self.kind,
            resource: self.resource,
            sub_resource,
            addressed,
            request_kind: self.request_kind.map(|Strict(kind)| kind),
            name: non_empty(self.name),
            namespace: non_empty(self.namespace),
            user,
            dry_run: if self.dry_run == Some(true) { DryRun::Yes } else { DryRun::No },
            ..Request::default()
        };
        let (object, old_object, options) = (self.object, self.old_object, self.options);
        let operation_name = self.operation;
        Ok(AdmissionReview { request, operation, operation_name, object, old_object, options })
    }
}

/// Groups and extras of a user are lists too, which a small body must not make large.
fn read_bounded(json: &str) -> Result<UserInfo, WebhookError> {
    decode::part(json, &Allowance::of(json.len())).map_err(|misfit| unreadable(&format!("userInfo.{}", misfit.error)))
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// The reason is cut: what it quotes of the body can be as long as the body.
fn unreadable(why: &str) -> WebhookError {
    WebhookError::Unreadable(why.chars().take(300).collect())
}

fn cut(text: &str) -> String {
    text.chars().take(64).collect()
}

/// An answer to an AdmissionReview. What the API server checks in one holds by construction: only a mutating answer
/// can carry a patch, and a patch never comes without its type.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response<'a> {
    pub uid: &'a str,
    pub allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(flatten)]
    pub patch: Option<WirePatch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_annotations: BTreeMap<String, String>,
}

/// A patch and its type, which the API server demands together or not at all.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WirePatch {
    patch: String,
    patch_type: &'static str,
}

impl WirePatch {
    /// `None` for a patch that changes nothing.
    pub fn new(patch: &Patch) -> Option<Self> {
        use base64::Engine;
        let json = if patch.is_empty() { return None } else { serde_json::to_vec(patch).ok()? };
        Some(Self { patch: base64::engine::general_purpose::STANDARD.encode(json), patch_type: "JSONPatch" })
    }
}

/// The `metav1.Status` of a denial.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    #[serde(rename = "status")]
    pub outcome: &'static str,
    pub message: String,
    pub reason: String,
    pub code: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
}

/// Which object a denial is about, and its findings one by one.
#[derive(Debug, Serialize)]
pub(crate) struct StatusDetails {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    pub kind: String,
    pub causes: Vec<Cause>,
}

/// One finding of a denial.
#[derive(Debug, Serialize)]
pub(crate) struct Cause {
    pub reason: &'static str,
    pub message: String,
    pub field: String,
}

impl Response<'_> {
    /// The body of the answer, in the caller's version.
    pub fn to_body(&self, version: ReviewVersion) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Envelope<'a> {
            kind: &'a str,
            api_version: &'a str,
            response: &'a Response<'a>,
        }
        let envelope = Envelope { kind: "AdmissionReview", api_version: version.api_version(), response: self };
        // Strings, numbers and maps with string keys: there is nothing in it that JSON can't say.
        serde_json::to_vec(&envelope).unwrap_or_default()
    }
}

/// What the API server shows of all warnings together, in characters.
const WARNINGS_TOTAL: usize = 4096;
/// What it leaves of each once the total is passed.
const WARNING_CUT: usize = 256;

/// Warnings in the form that the API server shows: a control character would make one vanish, a client prints whatever a
/// terminal obeys, and beyond a total it cuts each, so lines come apart and the cut is made here.
pub(crate) fn presentable<S: AsRef<str>>(warnings: impl IntoIterator<Item = S>) -> Vec<String> {
    let on_lines = |text: S| text.as_ref().split(['\n', '\r']).map(on_one_line).collect::<Vec<_>>();
    let mut lines: Vec<String> = Vec::new();
    let mut total = 0;
    for line in warnings.into_iter().flat_map(on_lines) {
        if line.trim().is_empty() || lines.contains(&line) {
            continue;
        }
        total += line.chars().count();
        lines.push(line);
        if total > WARNINGS_TOTAL && lines.len() >= WARNINGS_TOTAL / WARNING_CUT {
            break;
        }
    }
    if total > WARNINGS_TOTAL {
        lines = lines.into_iter().map(|line| line.chars().take(WARNING_CUT).collect()).collect();
        lines.truncate(WARNINGS_TOTAL / WARNING_CUT);
    }
    lines
}

fn on_one_line(line: &str) -> String {
    line.replace('\t', " ").chars().filter(|&char| !terminal::is_obeyed(char)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(request: &str) -> String {
        format!(r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{request}}}"#)
    }

    fn refusal(text: &str) -> String {
        match AdmissionReview::read(text.as_bytes()) {
            Ok(_) => panic!("read {text}"),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn reads_a_request_whose_optional_members_are_null() {
        let text = body(
            r#"{"uid":"u","kind":null,"resource":null,"operation":"CREATE","userInfo":{"username":"a","groups":null},"name":null,"oldObject":null,"object":{"a":1}}"#,
        );
        let review = AdmissionReview::read(text.as_bytes()).unwrap();
        assert_eq!(review.operation, Some(Operation::Create));
        assert_eq!(review.object.unwrap().get(), r#"{"a":1}"#);
        assert!(review.old_object.is_none() && review.request.name.is_none());
        assert_eq!(review.request.username(), "a");
    }

    #[test]
    fn a_missing_user_is_nobody() {
        let review_text = body(r#"{"uid":"u","operation":"DELETE"}"#);
        assert!(AdmissionReview::read(review_text.as_bytes()).unwrap().request.user.is_none());
    }

    #[test]
    fn says_why_an_envelope_is_unreadable() {
        assert!(refusal("{").contains("EOF"));
        assert!(refusal(r#"["admission.k8s.io/v1", "AdmissionReview", null]"#).contains("object"));
        assert!(refusal(&body(r#"["u"]"#)).contains("object"));
        assert!(refusal(&body(r#"{"operation":"CREATE","kind":["g","v","k"]}"#)).contains("object"));
        assert!(refusal("{}").contains("AdmissionReview"));
        assert!(refusal(r#"{"kind":"AdmissionReview","apiVersion":"v1"}"#).contains("admission.k8s.io/v1"));
        assert!(refusal(r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}"#).contains("no request"));
        assert!(refusal(&body(r#"{"uid":"u","operation":5}"#)).contains("string"));
        assert!(refusal(&body(r#"{"uid":"u"}"#)).contains("operation"));
        for uid in [r#""""#, r#"" \t""#, "null"] {
            assert!(refusal(&body(&format!(r#"{{"uid":{uid},"operation":"CREATE"}}"#))).contains("no uid"), "{uid}");
        }
        assert!(AdmissionReview::read(b"\xff\xfe").is_err());
    }

    #[test]
    fn the_reason_does_not_grow_with_the_body() {
        let kind = "x".repeat(100_000);
        assert!(refusal(&body(&format!(r#"{{"uid":"u","operation":"CREATE","kind":"{kind}"}}"#))).len() < 400);
    }

    #[test]
    fn a_warning_is_split_at_line_ends_and_freed_of_what_a_terminal_obeys() {
        assert_eq!(presentable(["one\ntwo\r\n", "th\u{7}ree\u{202e}\tfour", "", "one"]), ["one", "two", "three four"]);
    }

    #[test]
    fn warnings_stay_below_the_total_that_the_api_server_shows() {
        let many: Vec<String> = (0..100).map(|i| format!("{i} {}", "x".repeat(500))).collect();
        let shown = presentable(&many);
        assert!(shown.iter().map(|line| line.chars().count()).sum::<usize>() <= WARNINGS_TOTAL);
        assert!(shown.iter().all(|line| line.chars().count() <= WARNING_CUT));
    }
}

//! Objects of a kind that the server keeps in memory, for rules across objects.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use crate::manifest::selector::LabelSelector;
use crate::rule::cluster::{ListQuery, ObjectName};
use crate::rule::resource::{GroupVersionKind, Resource, Scope};
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::request::{Request, misfit};

/// The objects of a kind, for rules across objects. All clones are the same store.
///
/// [`Webhook::watches`](crate::Webhook::watches) has the server keep it filled: it lists the objects once and watches them
/// from then on, so that a review asks nobody. `check` fills it from the files that it is given, and from the cluster of
/// `--kubeconfig`. Until it is filled, reading it is no verdict: `failurePolicy` decides.
///
/// ```
/// use gateward_core::{Request, State, Store, Verdict, WebhookError, Webhook};
/// # use gateward_core::resource;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct Otter { den: String }
/// # resource!(Otter, "example.org/v1", "Otter", "otters");
///
/// /// No two otters of a namespace live in one den.
/// fn alone(new: &Otter, request: &Request, State(otters): State<Store<Otter>>) -> Result<(), Verdict> {
///     if otters.others(request)?.iter().any(|other| other.den == new.den) {
///         return Err(Verdict::deny("another otter lives in that den"));
///     }
///     Ok(())
/// }
///
/// let otters = Store::new();
/// let kind = Webhook::<Otter>::new().watches(&otters).with_state(otters).validator(alone);
/// ```
///
/// What it holds was true a moment ago. Of two objects that are created at the same time neither may be there yet when the
/// other is judged, and replicas see a change one after another. A rule on it catches mistakes; what must never happen needs
/// a name that the API server keeps unique, or a controller that looks again.
///
/// It holds each object whole, as `K` reads it: a `K` of few fields, or [`Self::selected`], keeps it small.
pub struct Store<K>(Arc<Shared<K>>);

struct Shared<K> {
    selector: Option<LabelSelector>,
    content: RwLock<Content<K>>,
}

/// Namespace and name.
type NamespacedName = (Option<String>, String);

/// What is known of each object: itself, or why it can't be read.
type Held<K> = BTreeMap<NamespacedName, Result<Arc<K>, WebhookError>>;

struct Content<K> {
    known: Known<K>,
    /// What has come of a list that isn't complete.
    arriving: Held<K>,
}

enum Known<K> {
    Nothing(String),
    All(Held<K>),
}

/// What becomes known of the objects of a store, in the order in which a watch tells it.
#[derive(Debug, Clone, PartialEq)]
pub enum StoreEvent {
    /// A list of all objects begins.
    ListBegins,
    /// One of them.
    Listed(Value),
    /// The list is complete: what isn't in it is gone.
    ListEnds,
    /// An object is there, or is another now.
    Changed(Value),
    /// An object is gone.
    Removed(Value),
    /// The objects can't be read at the moment, with the reason. What was known stays.
    Unreadable(String),
}

/// A store whose type is forgotten, for the reader of the cluster that fills it.
pub trait WatchedStore: fmt::Debug + Send + Sync {
    /// Which objects it holds.
    fn query(&self) -> ListQuery;

    /// The version in which it holds them.
    fn gvk(&self) -> GroupVersionKind;

    /// Whether they live in a namespace.
    fn scope(&self) -> Scope;

    /// Takes an event in. An object that its selector leaves out counts as gone.
    fn take(&self, event: StoreEvent);
}

impl<K: Resource> Store<K> {
    /// A store of all objects of the kind, not yet filled.
    pub fn new() -> Self {
        Self::holding(None)
    }

    /// A store of those with these labels, not yet filled.
    ///
    /// ```
    /// use gateward_core::{Store, manifest::label};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter {}
    /// # gateward_core::resource!(Otter, "example.org/v1", "Otter", "otters");
    ///
    /// let ours = Store::<Otter>::selected(label("app.kubernetes.io/managed-by").equals("zoo"));
    /// ```
    pub fn selected(selector: LabelSelector) -> Self {
        Self::holding(Some(selector))
    }

    fn holding(selector: Option<LabelSelector>) -> Self {
        let why = "nothing fills it: is it declared by `.watches(…)`, and is there a cluster?".into();
        let content = Content { known: Known::Nothing(why), arriving: Held::new() };
        Self(Arc::new(Shared { selector, content: RwLock::new(content) }))
    }

    /// The objects of a namespace, or with `None` all. That they aren't known, or that one of them doesn't fit its type, is
    /// no verdict: `failurePolicy` decides.
    pub fn list(&self, namespace: Option<&str>) -> Result<Vec<Arc<K>>, WebhookError> {
        self.read(|(of, _)| namespace.is_none() || of.as_deref() == namespace)
    }

    /// The objects in the namespace of the request, but for the one that it is about.
    pub fn others(&self, request: &Request) -> Result<Vec<Arc<K>>, WebhookError> {
        let is_of_kind = request.kind.same_kind(&K::gvk())
            || (&*request.resource.group, &*request.resource.resource) == (&*K::group(), &*K::plural());
        let own = request.name.as_deref().filter(|_| is_of_kind);
        let namespace = request.namespace.as_deref().filter(|_| K::scope() == Scope::Namespaced);
        self.read(|(of, name)| of.as_deref() == namespace && own != Some(name))
    }

    fn read(&self, is_wanted: impl Fn(&NamespacedName) -> bool) -> Result<Vec<Arc<K>>, WebhookError> {
        let content = self.0.content.read().unwrap_or_else(PoisonError::into_inner);
        match &content.known {
            Known::Nothing(why) => {
                Err(WebhookError::Unavailable(format!("the store of {} can't be read yet: {why}", K::gvk())))
            }
            Known::All(objects) => {
                objects.iter().filter(|(place, _)| is_wanted(place)).map(|(_, object)| object.clone()).collect()
            }
        }
    }

    /// The store for the reader that fills it.
    pub(crate) fn watched(&self) -> Arc<dyn WatchedStore> {
        Arc::clone(&self.0) as Arc<dyn WatchedStore>
    }
}

impl<K: Resource> Content<K> {
    fn take(&mut self, event: StoreEvent, is_selected: impl Fn(&Value) -> bool) {
        match event {
            StoreEvent::ListBegins => self.arriving.clear(),
            StoreEvent::Listed(object) if is_selected(&object) => put(&mut self.arriving, &object),
            StoreEvent::Listed(_) => {}
            StoreEvent::ListEnds => self.known = Known::All(std::mem::take(&mut self.arriving)),
            StoreEvent::Changed(object) => match &mut self.known {
                Known::All(objects) if is_selected(&object) => put(objects, &object),
                Known::All(objects) => drop(objects.remove(&place(&object))),
                Known::Nothing(_) => {}
            },
            StoreEvent::Removed(object) => {
                if let Known::All(objects) = &mut self.known {
                    objects.remove(&place(&object));
                }
            }
            StoreEvent::Unreadable(why) => {
                if let Known::Nothing(before) = &mut self.known {
                    *before = why;
                }
            }
        }
    }
}

fn put<K: Resource>(objects: &mut Held<K>, object: &Value) {
    let (namespace, name) = place(object);
    let named = || ObjectName::of::<K>(namespace.as_deref(), &name);
    let read = K::deserialize(object).map(Arc::new).map_err(|_| misfit::<K>(&named(), object));
    objects.insert((namespace, name), read);
}

fn place(object: &Value) -> NamespacedName {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    (text("/metadata/namespace"), text("/metadata/name").unwrap_or_default())
}

impl<K: Resource> WatchedStore for Shared<K> {
    fn query(&self) -> ListQuery {
        let label_selector = self.selector.as_ref().map(LabelSelector::to_string).unwrap_or_default();
        ListQuery { label_selector, ..ListQuery::of::<K>(None) }
    }

    fn gvk(&self) -> GroupVersionKind {
        K::gvk()
    }

    fn scope(&self) -> Scope {
        K::scope()
    }

    fn take(&self, event: StoreEvent) {
        let is_selected = |object: &Value| {
            self.selector.as_ref().is_none_or(|selector| selector.selects(&object["metadata"]["labels"]))
        };
        self.content.write().unwrap_or_else(PoisonError::into_inner).take(event, is_selected);
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Resource> Default for Store<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<K> fmt::Debug for Shared<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("selector", &self.selector).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::selector::label;

    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct Otter {
        den: String,
    }
    crate::resource!(Otter, "example.org/v1", "Otter", "otters");

    fn otter(namespace: &str, name: &str, den: impl Into<Value>) -> Value {
        json!({"metadata": {"namespace": namespace, "name": name}, "den": den.into()})
    }

    fn filled(store: Store<Otter>, objects: impl IntoIterator<Item = Value>) -> Store<Otter> {
        let watched = store.watched();
        watched.take(StoreEvent::ListBegins);
        for object in objects {
            watched.take(StoreEvent::Listed(object));
        }
        watched.take(StoreEvent::ListEnds);
        store
    }

    fn rivers() -> Store<Otter> {
        filled(Store::new(), [otter("wye", "otto", "a"), otter("wye", "ottilie", "b"), otter("usk", "otto", "c")])
    }

    fn dens(read: Result<Vec<Arc<Otter>>, WebhookError>) -> Vec<String> {
        read.unwrap().iter().map(|otter| otter.den.clone()).collect()
    }

    fn about(kind: &str, name: Option<&str>) -> Request {
        let kind = GroupVersionKind::of("example.org/v2", kind);
        Request { kind, namespace: Some("wye".into()), name: name.map(str::to_owned), ..Request::default() }
    }

    #[test]
    fn until_it_is_filled_it_gives_no_verdict_but_the_reason() {
        let store = Store::<Otter>::new();
        let why = |store: &Store<Otter>| store.list(None).unwrap_err().to_string();
        assert!(why(&store).contains(".watches(") && why(&store).contains("Otter"), "{}", why(&store));
        store.watched().take(StoreEvent::Unreadable("nobody may list otters".into()));
        assert!(why(&store).contains("nobody may list otters"));
        store.watched().take(StoreEvent::ListBegins);
        store.watched().take(StoreEvent::Listed(otter("wye", "otto", "a")));
        assert!(store.list(None).is_err(), "a list that isn't complete lacks something");
        store.watched().take(StoreEvent::ListEnds);
        assert_eq!(dens(store.list(None)), ["a"]);
    }

    #[test]
    fn it_lists_a_namespace_or_all() {
        assert_eq!(dens(rivers().list(Some("wye"))), ["b", "a"]);
        assert_eq!(dens(rivers().list(None)), ["c", "b", "a"]);
        assert_eq!(dens(rivers().list(Some("dee"))), [""; 0]);
    }

    #[test]
    fn the_others_are_those_of_the_namespace_but_for_the_object_itself() {
        assert_eq!(dens(rivers().others(&about("Otter", Some("otto")))), ["b"]);
        assert_eq!(dens(rivers().others(&about("Otter", None))), ["b", "a"], "one that has no name yet");
        assert_eq!(dens(rivers().others(&about("Beaver", Some("otto")))), ["b", "a"], "another kind's name");
        let mut scaled = about("Scale", Some("otto"));
        (scaled.resource.group, scaled.resource.resource) = ("example.org".into(), "otters".into());
        assert_eq!(dens(rivers().others(&scaled)), ["b"]);
    }

    #[test]
    fn it_follows_what_becomes_known() {
        let store = rivers();
        store.watched().take(StoreEvent::Changed(otter("wye", "otto", "d")));
        store.watched().take(StoreEvent::Removed(otter("wye", "ottilie", "b")));
        store.watched().take(StoreEvent::Unreadable("the API server restarts".into()));
        assert_eq!(dens(store.list(Some("wye"))), ["d"]);
        let store = filled(store, [otter("dee", "otto", "e")]);
        assert_eq!(dens(store.list(None)), ["e"], "what isn't in a new list is gone");
    }

    #[test]
    fn it_holds_what_is_selected() {
        let labelled = |name: &str, swims: &str| json!({"metadata": {"namespace": "wye", "name": name, "labels": {"swims": swims}}, "den": name});
        let store = Store::selected(label("swims").equals("yes"));
        let store = filled(store, [labelled("otto", "yes"), labelled("ottilie", "no")]);
        assert_eq!(store.watched().query().label_selector, "swims=yes");
        assert_eq!(dens(store.list(None)), ["otto"]);
        store.watched().take(StoreEvent::Changed(labelled("otto", "no")));
        assert_eq!(dens(store.list(None)), [""; 0]);
    }

    #[test]
    fn an_object_that_does_not_fit_is_no_verdict_where_it_is_looked_at() {
        let store = filled(Store::new(), [otter("wye", "otto", 7), otter("usk", "ottilie", "b")]);
        let why = store.list(Some("wye")).unwrap_err().to_string();
        assert!(why.contains("wye/otto") && why.contains("den has the wrong type"), "{why}");
        assert_eq!(dens(store.list(Some("usk"))), ["b"]);
    }
}

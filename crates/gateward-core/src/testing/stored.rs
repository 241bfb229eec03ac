//! A cluster that holds what a test has put there.

use std::future::ready;

use serde_json::Value;

use crate::rule::cluster::{AccessQuestion, ClusterReader, GroupServed, ListLookup, ListQuery, Lookup, ObjectName};
use crate::rule::resource::Resource;
use crate::testing::selector;
use crate::webhooks::future::BoxFuture;
use crate::webhooks::webhook_error::WebhookError;

/// A cluster with these objects and no others, for the look-ups of rules under test. It serves the kinds of the objects.
///
/// ```
/// use gateward_core::testing::Stored;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct River {}
/// # gateward_core::resource!(River, "example.org/v1", "River", "rivers", Cluster);
///
/// let cluster = Stored::new().with::<River>(&serde_json::json!({"metadata": {"name": "wye"}}));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stored {
    objects: Vec<(ObjectName, Value)>,
    granted: Option<fn(&AccessQuestion) -> bool>,
}

impl Stored {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with an object of version `K`, which is found in that version only.
    pub fn with<K: Resource>(mut self, object: &Value) -> Self {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let name =
            ObjectName::of::<K>(text("/metadata/namespace").as_deref(), &text("/metadata/name").unwrap_or_default());
        self.objects.push((name, object.clone()));
        self
    }

    /// The same, where users may do what `granted` says. Without it nobody can be asked for rights.
    ///
    /// ```
    /// use gateward_core::testing::Stored;
    ///
    /// let cluster = Stored::new().granting(|asked| asked.user.username == "keeper" && asked.verb == "use");
    /// ```
    pub fn granting(self, granted: fn(&AccessQuestion) -> bool) -> Self {
        Self { granted: Some(granted), ..self }
    }

    fn serves(&self, is_asked_for: impl Fn(&ObjectName) -> bool) -> GroupServed {
        if self.objects.iter().any(|(name, _)| is_asked_for(name)) { GroupServed::Served } else { GroupServed::Absent }
    }

    fn listed(&self, query: &ListQuery) -> ListLookup {
        let selector = match selector::parse(&query.label_selector) {
            Ok(selector) => selector,
            Err(why) => return ListLookup::Unreadable(why),
        };
        let is_of_kind = |name: &ObjectName| {
            (&name.group, &name.version, &name.plural) == (&query.group, &query.version, &query.plural)
                && query.namespace.as_ref().is_none_or(|namespace| name.namespace.as_ref() == Some(namespace))
        };
        let found = self
            .objects
            .iter()
            .filter(|(name, object)| is_of_kind(name) && selector.selects(&object["metadata"]["labels"]));
        ListLookup::Found(found.map(|(_, object)| object.clone()).collect())
    }
}

impl ClusterReader for Stored {
    fn group<'a>(&'a self, group: &'a str) -> BoxFuture<'a, GroupServed> {
        Box::pin(ready(self.serves(|name| name.group == group)))
    }

    fn resource<'a>(&'a self, group: &'a str, version: &'a str, plural: &'a str) -> BoxFuture<'a, GroupServed> {
        Box::pin(ready(self.serves(|name| (&*name.group, &*name.version, &*name.plural) == (group, version, plural))))
    }

    fn get<'a>(&'a self, wanted: &'a ObjectName) -> BoxFuture<'a, Lookup> {
        let found = self.objects.iter().find(|(name, _)| name == wanted);
        Box::pin(ready(found.map_or(Lookup::Absent, |(_, object)| Lookup::Found(object.clone()))))
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, ListLookup> {
        Box::pin(ready(self.listed(query)))
    }

    fn may<'a>(&'a self, question: &'a AccessQuestion) -> BoxFuture<'a, Result<bool, WebhookError>> {
        let unknown = || WebhookError::Unavailable("a test says who has rights by `Stored::granting`".into());
        Box::pin(ready(self.granted.map(|granted| granted(question)).ok_or_else(unknown)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::block_on;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct River {}
    crate::resource!(River, "example.org/v1", "River", "rivers");

    fn rivers() -> Stored {
        let river = |name: &str, fish: &str| json!({"metadata": {"namespace": "wales", "name": name, "labels": {"fish": fish}}});
        Stored::new().with::<River>(&river("wye", "salmon")).with::<River>(&river("usk", "trout"))
    }

    #[test]
    fn finds_what_was_put_there() {
        let found = block_on(rivers().get(&ObjectName::of::<River>(Some("wales"), "wye"))).found().unwrap().unwrap();
        assert_eq!(found["metadata"]["name"], "wye");
        assert_eq!(block_on(rivers().get(&ObjectName::of::<River>(None, "wye"))), Lookup::Absent);
        assert_eq!(block_on(rivers().group("example.org")), GroupServed::Served);
        assert_eq!(block_on(rivers().resource("example.org", "v2", "rivers")), GroupServed::Absent);
    }

    #[test]
    fn grants_what_the_test_says_and_can_not_be_asked_before() {
        let question = |verb: &str| AccessQuestion { verb: verb.into(), ..AccessQuestion::default() };
        let granting = rivers().granting(|asked| asked.verb == "swim");
        assert_eq!(block_on(granting.may(&question("swim"))), Ok(true));
        assert_eq!(block_on(granting.may(&question("dam"))), Ok(false));
        assert!(block_on(rivers().may(&question("swim"))).is_err());
    }

    #[test]
    fn lists_by_labels() {
        let list = |selector: &str| {
            let query = ListQuery { label_selector: selector.into(), ..ListQuery::of::<River>(Some("wales")) };
            block_on(rivers().list(&query))
        };
        let ListLookup::Found(found) = list("fish=trout") else { panic!("it is readable") };
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["metadata"]["name"], "usk");
        let ListLookup::Found(all) = list("") else { panic!("it is readable") };
        assert_eq!(all.len(), 2);
        assert_eq!(list("fish notin (trout)").found().unwrap().len(), 1);
        assert!(matches!(list("fish~trout"), ListLookup::Unreadable(_)));
    }
}

//! One level of a JSON text: its members or items, each as the text that it is.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::rule::field::Segment;

/// A member's name and text.
pub type RawMember<'a> = (Cow<'a, str>, &'a RawValue);

/// The members of an object, in the order of their names; of a name that stands there twice the last one counts.
pub fn members(json: &str) -> Option<Vec<RawMember<'_>>> {
    let mut members = collected(|push| each_member(json, |name, text| push((name, text))))?;
    members.sort_by(|(one, _), (other, _): &RawMember<'_>| one.cmp(other));
    members.reverse();
    members.dedup_by(|(one, _), (other, _)| one == other);
    members.reverse();
    Some(members)
}

/// The members of an object in their order.
pub(crate) fn members_in_order(json: &str) -> Option<Vec<RawMember<'_>>> {
    let mut members = Vec::new();
    each_member(json, |name, text| members.push((name, text)))?;
    Some(members)
}

/// Hands over each member of an object, in their order. `None` where the text is no object.
pub(crate) fn each_member<'a>(json: &'a str, member: impl FnMut(Cow<'a, str>, &'a RawValue)) -> Option<()> {
    json.trim_start().starts_with('{').then(|| each(json, Each { member, item: |_| {} }))?
}

/// The text of an object with what `member` makes of each member, and without those of which it makes nothing. `None`
/// where the text is no object.
pub(crate) fn rewritten<'a>(
    json: &'a str,
    mut member: impl FnMut(&str, &'a str) -> Option<Cow<'a, str>>,
) -> Option<String> {
    let mut written = String::with_capacity(json.len());
    each_member(json, |name, text| {
        if let Some(text) = member(&name, text.get()) {
            written.push(if written.is_empty() { '{' } else { ',' });
            // A text always writes as JSON.
            written.push_str(&serde_json::to_string(&name).unwrap_or_default());
            written.push(':');
            written.push_str(&text);
        }
    })?;
    written.push_str(if written.is_empty() { "{}" } else { "}" });
    Some(written)
}

/// The items of a list.
pub fn items(json: &str) -> Option<Vec<&RawValue>> {
    let is_list = json.trim_start().starts_with('[');
    is_list.then(|| collected(|push| each(json, Each { member: |_, _| {}, item: |text| push(text) })))?
}

/// The text of the last member of this name.
pub fn member_at<'a>(json: &'a str, wanted: &str) -> Option<&'a str> {
    let mut found = None;
    let member = |name: Cow<'a, str>, text: &'a RawValue| {
        if name == wanted {
            found = Some(text.get());
        }
    };
    each(json, Each { member, item: |_| {} })?;
    found
}

/// The text of the item at this position.
pub(crate) fn item_at<'a>(json: &'a str, wanted: usize) -> Option<&'a str> {
    let (mut found, mut position) = (None, 0);
    let item = |text: &'a RawValue| {
        if position == wanted {
            found = Some(text.get());
        }
        position += 1;
    };
    each(json, Each { member: |_, _| {}, item })?;
    found
}

/// The last member or item whose text is longer than this, with its step.
pub(crate) fn longer_than<'a>(least: usize, json: &'a str) -> Option<(Segment, &'a RawValue)> {
    let (longer, mut position) = (Cell::new(None), 0);
    let consider = |step, text: &'a RawValue| {
        if text.get().len() > least {
            longer.set(Some((step, text)));
        }
    };
    let member = |name: Cow<'a, str>, text| consider(Segment::Field(name.into_owned().into()), text);
    let item = |text| {
        consider(Segment::Index(position), text);
        position += 1;
    };
    each(json, Each { member, item })?;
    longer.into_inner()
}

/// So many parts are collected in a list that grows. For more, a list is made that is as long as it gets.
const FEW: usize = 4 << 10;

/// All parts that `each` hands over, each time the same ones.
fn collected<T>(each: impl Fn(&mut dyn FnMut(T)) -> Option<()>) -> Option<Vec<T>> {
    let (mut parts, mut count) = (Vec::new(), 0);
    each(&mut |part| {
        count += 1;
        if count <= FEW {
            parts.push(part);
        }
    })?;
    if count > FEW {
        parts = Vec::with_capacity(count);
        each(&mut |part| parts.push(part))?;
    }
    Some(parts)
}

fn each<'a, M, I>(json: &'a str, each: Each<M, I>) -> Option<()>
where
    M: FnMut(Cow<'a, str>, &'a RawValue),
    I: FnMut(&'a RawValue),
{
    if !json.trim_start().starts_with(['{', '[']) {
        return None;
    }
    serde_json::Deserializer::from_str(json).deserialize_any(each).ok()
}

/// The name of a member, copied only where it is escaped.
#[derive(Deserialize)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// What is done with each part.
struct Each<M, I> {
    member: M,
    item: I,
}

impl<'de, M, I> Visitor<'de> for Each<M, I>
where
    M: FnMut(Cow<'de, str>, &'de RawValue),
    I: FnMut(&'de RawValue),
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            (self.item)(item);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some((Name(name), text)) = members.next_entry::<Name<'de>, &'de RawValue>()? {
            (self.member)(name, text);
        }
        Ok(())
    }
}

//! Whether an object has the labels that a selector asks for, as
//! <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors> says.

use serde_json::Value;

/// One demand of a selector.
enum Demand<'a> {
    Exists(&'a str),
    Absent(&'a str),
    In(&'a str, Vec<&'a str>),
    /// An object without the label fulfils it.
    NotIn(&'a str, Vec<&'a str>),
}

impl Demand<'_> {
    fn is_met(&self, labels: &Value) -> bool {
        let is_one = |key: &str, values: &[&str]| labels[key].as_str().is_some_and(|value| values.contains(&value));
        match self {
            Self::Exists(key) => labels[*key].is_string(),
            Self::Absent(key) => !labels[*key].is_string(),
            Self::In(key, values) => is_one(key, values),
            Self::NotIn(key, values) => !is_one(key, values),
        }
    }
}

/// What a selector asks of an object's labels.
pub(super) struct Selected<'a>(Vec<Demand<'a>>);

impl<'a> Selected<'a> {
    /// Reads a selector as `kubectl get --selector` takes it, or says which part of it is none.
    pub(super) fn parse(selector: &'a str) -> Result<Self, String> {
        let demands = parts(selector).into_iter().map(str::trim).filter(|part| !part.is_empty());
        let demand =
            |part| demand(part).ok_or_else(|| format!("{part:?} is no part of a label selector that `Stored` knows"));
        demands.map(demand).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_met(&self, object: &Value) -> bool {
        self.0.iter().all(|demand| demand.is_met(&object["metadata"]["labels"]))
    }
}

/// The parts between commas; those in parentheses stay together.
fn parts(selector: &str) -> Vec<&str> {
    let mut is_list = false;
    let separates = |c: char| {
        is_list = matches!(c, '(') || (is_list && c != ')');
        c == ',' && !is_list
    };
    selector.split(separates).collect()
}

fn demand(part: &str) -> Option<Demand<'_>> {
    if let Some((key, values)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
        let (key, operator) = key.trim().rsplit_once(char::is_whitespace)?;
        let values = values.split(',').map(value).collect::<Option<_>>()?;
        return match operator {
            "in" => Some(Demand::In(label_key(key)?, values)),
            "notin" => Some(Demand::NotIn(label_key(key)?, values)),
            _ => None,
        };
    }
    if let Some((key, other)) = part.split_once("!=") {
        return Some(Demand::NotIn(label_key(key)?, vec![value(other)?]));
    }
    if let Some((key, one)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Some(Demand::In(label_key(key)?, vec![value(one)?]));
    }
    match part.strip_prefix('!') {
        Some(key) => label_key(key).map(Demand::Absent),
        None => label_key(part).map(Demand::Exists),
    }
}

fn label_key(text: &str) -> Option<&str> {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    Some(text.trim()).filter(|key| !key.is_empty() && key.chars().all(is_of_key))
}

/// A value may be empty.
fn value(text: &str) -> Option<&str> {
    let is_of_value = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    Some(text.trim()).filter(|value| value.chars().all(is_of_value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_mean_what_they_mean_to_an_api_server() {
        let otter = json!({"metadata": {"labels": {"river": "wye", "example.org/cubs": "3", "tail": ""}}});
        for (selector, is_met) in [
            ("", true),
            ("river", true),
            ("lake", false),
            ("!lake", true),
            ("! river", false),
            ("river=wye", true),
            ("river == wye", true),
            ("river=usk", false),
            ("river!=usk", true),
            ("river != wye", false),
            ("lake!=wye", true),
            ("lake=wye", false),
            ("river in (usk, wye)", true),
            ("river in (usk)", false),
            ("river notin (usk,tyne)", true),
            ("river notin (wye)", false),
            ("lake notin (wye)", true),
            ("lake in (wye)", false),
            ("tail=", true),
            ("tail in ()", true),
            ("river=wye,example.org/cubs=3", true),
            ("river in (usk,wye),!lake,example.org/cubs!=4", true),
            ("river=wye,example.org/cubs=4", false),
        ] {
            let selected = Selected::parse(selector).unwrap();
            assert_eq!(selected.is_met(&otter), is_met, "{selector:?}");
            assert_eq!(
                selected.is_met(&json!({})),
                selector.is_empty() || is_met_without_labels(selector),
                "{selector:?}"
            );
        }
    }

    fn is_met_without_labels(selector: &str) -> bool {
        ["!lake", "! river", "river!=usk", "river != wye", "lake!=wye"].contains(&selector)
            || selector.contains("notin")
    }

    #[test]
    fn what_is_no_selector_is_named() {
        for (selector, part) in [
            ("river~wye", "river~wye"),
            ("lake,river of (wye)", "river of (wye)"),
            ("river in wye", "river in wye"),
            ("river in (wye", "river in (wye"),
            ("=wye", "=wye"),
            ("river=a=b", "river=a=b"),
            ("cubs>2", "cubs>2"),
        ] {
            let why = Selected::parse(selector).err().unwrap();
            assert_eq!(why, format!("{part:?} is no part of a label selector that `Stored` knows"));
        }
    }
}

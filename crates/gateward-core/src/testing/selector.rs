//! Label selectors as text, for the look-ups of a test. Follows
//! <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors>.

use crate::manifest::selector::{Label, LabelSelector, label};

/// Reads a selector as `kubectl get --selector` takes it, or says which part of it is none.
pub(super) fn parse(selector: &str) -> Result<LabelSelector, String> {
    let parts = parts(selector).into_iter().map(str::trim).filter(|part| !part.is_empty());
    let requirement =
        |part| requirement(part).ok_or_else(|| format!("{part:?} is no part of a label selector that `Stored` knows"));
    parts.map(requirement).try_fold(LabelSelector::all(), |all, next| Ok(all.and(next?)))
}

/// The parts between commas; those in parentheses stay together.
fn parts(selector: &str) -> Vec<&str> {
    let mut is_list = false;
    let separates = |c: char| {
        is_list = c == '(' || (is_list && c != ')');
        c == ',' && !is_list
    };
    selector.split(separates).collect()
}

fn requirement(part: &str) -> Option<LabelSelector> {
    if let Some((key, values)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
        let (key, operator) = key.trim().rsplit_once(char::is_whitespace)?;
        let values = values.split(',').map(value).collect::<Option<Vec<_>>>()?;
        return match operator {
            "in" => Some(key_of(key)?.is_in(values)),
            "notin" => Some(key_of(key)?.not_in(values)),
            _ => None,
        };
    }
    if let Some((key, other)) = part.split_once("!=") {
        return Some(key_of(key)?.not_in([value(other)?]));
    }
    if let Some((key, one)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Some(key_of(key)?.equals(value(one)?));
    }
    match part.strip_prefix('!') {
        Some(key) => key_of(key).map(Label::is_absent),
        None => key_of(part).map(Label::exists),
    }
}

fn key_of(text: &str) -> Option<Label> {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let key = Some(text.trim()).filter(|key| !key.is_empty() && key.chars().all(is_of_key))?;
    Some(label(key.to_owned()))
}

/// A value may be empty.
fn value(text: &str) -> Option<String> {
    let is_of_value = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    Some(text.trim()).filter(|value| value.chars().all(is_of_value)).map(str::to_owned)
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
            let parsed = parse(selector).unwrap();
            assert_eq!(parsed.selects(&otter["metadata"]["labels"]), is_met, "{selector:?}");
            assert_eq!(
                parsed.selects(&json!(null)),
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
            let why = parse(selector).unwrap_err();
            assert_eq!(why, format!("{part:?} is no part of a label selector that `Stored` knows"));
        }
    }
}

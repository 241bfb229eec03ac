//! The names that an author chooses: what they may be, and what they are when they aren't given.

use std::fmt;
use std::str::FromStr;

use anyhow::bail;
use gateward::dns;

/// With it, `NAME.example.org` is a group of at most 50 characters, and `NAME-webhook-service` a label of at most 63.
const LONGEST_NAME: usize = 38;
/// The lines of the templates have room for it.
const LONGEST_KIND: usize = 36;
/// The group is also the prefix of annotations, which has room for this many.
const LONGEST_GROUP: usize = 50;

/// Names that cargo takes for something else, or that a crate of a generated operator has.
const TAKEN: &[&str] = &[
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "futures-util",
    "gateward",
    "incremental",
    "k8s-openapi",
    "kube",
    "proc-macro",
    "schemars",
    "serde",
    "serde-json",
    "std",
    "test",
    "tokio",
    "tracing",
];

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Types by which the types of a kind are written.
const NEEDED: &[&str] = &[
    "Clone",
    "CustomResource",
    "Debug",
    "Default",
    "Deserialize",
    "JsonSchema",
    "Option",
    "Self",
    "Serialize",
    "String",
];

/// The name of an operator: a crate's name and a DNS label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorName(String);

/// The name of a kind, as `kind` in manifests has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindName(String);

/// The API group of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiGroup(String);

impl OperatorName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As Rust writes it in paths.
    pub fn as_crate(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl FromStr for OperatorName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST_NAME {
            return Err(format!("must have at most {LONGEST_NAME} characters, since names of objects are made of it"));
        }
        if !is_words(text) {
            let proposal = words_of(text);
            let such_as = if is_words(&proposal) { proposal } else { "my-operator".to_owned() };
            return Err(format!(
                "must be a name for a crate and in DNS: a lower case letter, then lower case letters, digits and single \
                 hyphens, such as {such_as}"
            ));
        }
        if TAKEN.contains(&text) || KEYWORDS.contains(&text) {
            return Err(format!("is taken by Rust, by cargo or by a crate that operators use; take {text}-operator"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Words of lower case letters and digits with hyphens between them, a letter first.
fn is_words(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.split('-').all(is_word)
}

/// What may be meant by a text that isn't words.
fn words_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

impl KindName {
    /// The kind that an operator of a name is about: `cron-tab-operator` is about `CronTab`.
    pub fn of(name: &OperatorName) -> anyhow::Result<Self> {
        let words = name.as_str().strip_suffix("-operator").unwrap_or(name.as_str()).split('-');
        let kind: String = words.map(capitalised).collect();
        match kind.parse() {
            Ok(kind) => Ok(kind),
            Err(why) => bail!("{kind}, the kind that is made of {name}, {why}; name another with --kind"),
        }
    }

    /// In one word of lower case letters.
    pub fn singular(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// Many of them, as English has it.
    pub fn plural(&self) -> String {
        let one = self.singular();
        let consonant = |stem: &str| !stem.ends_with(['a', 'e', 'i', 'o', 'u']);
        match one.strip_suffix('y').filter(|stem| consonant(stem)) {
            Some(stem) => format!("{stem}ies"),
            None if ["s", "x", "z", "ch", "sh"].iter().any(|end| one.ends_with(end)) => format!("{one}es"),
            None => format!("{one}s"),
        }
    }

    /// What the ids of its rules begin with.
    pub fn rule_prefix(&self) -> String {
        self.0.to_ascii_uppercase()
    }
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

impl FromStr for KindName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_camel_case = text.starts_with(|first: char| first.is_ascii_uppercase())
            && text.chars().all(|character| character.is_ascii_alphanumeric());
        if !is_camel_case || text.len() > LONGEST_KIND {
            return Err(format!(
                "must be an upper case letter, then letters and digits, {LONGEST_KIND} at most, such as CronTab"
            ));
        }
        if NEEDED.contains(&text) {
            return Err("is a name that the types themselves are written with".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl ApiGroup {
    /// The group of an operator whose author says nothing of it.
    pub fn of(name: &OperatorName) -> Self {
        Self(format!("{name}.example.org"))
    }
}

impl FromStr for ApiGroup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST_GROUP || !text.contains('.') || !text.split('.').all(dns::is_label) {
            return Err(format!(
                "must be a name in DNS with a dot, lower case, of at most {LONGEST_GROUP} characters, such as \
                 stable.example.com"
            ));
        }
        if ["k8s.io", "kubernetes.io"].iter().any(|theirs| text == *theirs || text.ends_with(&format!(".{theirs}"))) {
            return Err("belongs to Kubernetes: API servers refuse such CRDs without its approval".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for ApiGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> OperatorName {
        text.parse().unwrap()
    }

    fn refusal<T: FromStr<Err = String> + fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err()
    }

    #[test]
    fn a_name_is_one_for_a_crate_and_in_dns() {
        for good in ["a", "crontab", "cron-tab", "cache2", "cache-2", &"n".repeat(38)] {
            assert_eq!(name(good).as_str(), good);
        }
        for (bad, proposal) in [
            ("CronTab", "such as crontab"),
            ("cron_tab", "such as cron-tab"),
            ("cron--tab", "such as cron-tab"),
            ("-cron", "such as cron"),
            ("cron.example.org", "such as cron-example-org"),
            ("../cron", "such as cron"),
            ("/tmp/cron", "such as tmp-cron"),
            ("2nd", "such as my-operator"),
            ("", "such as my-operator"),
            ("für", "such as f-r"),
        ] {
            let why = refusal::<OperatorName>(bad);
            assert!(why.ends_with(proposal), "{bad}: {why}");
        }
        assert!(refusal::<OperatorName>(&"n".repeat(39)).contains("at most 38"));
    }

    #[test]
    fn a_name_that_cargo_or_rust_has_is_refused_with_another() {
        for taken in ["test", "match", "kube", "gateward", "serde-json"] {
            assert!(refusal::<OperatorName>(taken).ends_with(&format!("take {taken}-operator")));
            name(&format!("{taken}-operator"));
        }
    }

    #[test]
    fn a_kind_follows_from_the_name() {
        for (from, kind) in [
            ("crontab", "Crontab"),
            ("cron-tab", "CronTab"),
            ("cron-tab-operator", "CronTab"),
            ("operator", "Operator"),
            ("cache-2", "Cache2"),
        ] {
            assert_eq!(KindName::of(&name(from)).unwrap().to_string(), kind);
        }
        let why = KindName::of(&name("string")).unwrap_err().to_string();
        assert!(why.starts_with("String, the kind that is made of string,") && why.ends_with("--kind"), "{why}");
    }

    #[test]
    fn a_kind_is_one_word_in_camel_case() {
        for bad in ["", "cronTab", "Cron-Tab", "Cron Tab", "2nd", "Crön", &"K".repeat(37)] {
            assert!(refusal::<KindName>(bad).contains("such as CronTab"), "{bad}");
        }
        assert!(refusal::<KindName>("Option").contains("written with"));
    }

    #[test]
    fn a_plural_is_as_english_has_it() {
        for (kind, plural) in [
            ("CronTab", "crontabs"),
            ("Policy", "policies"),
            ("Gateway", "gateways"),
            ("Class", "classes"),
            ("Mesh", "meshes"),
            ("Y", "ies"),
        ] {
            assert_eq!(kind.parse::<KindName>().unwrap().plural(), plural);
        }
    }

    #[test]
    fn the_longest_group_has_room_as_the_prefix_of_annotations() {
        for prefix in [ApiGroup::of(&name(&"n".repeat(LONGEST_NAME))).to_string(), format!("{}.org", "g".repeat(46))] {
            assert_eq!(prefix.len(), LONGEST_GROUP);
            assert_eq!(dynamo_webhooks::webhooks().with_annotation_prefix(prefix).check(), Ok(()));
        }
    }

    #[test]
    fn a_group_is_a_name_in_dns_that_kubernetes_does_not_own() {
        for good in ["stable.example.com", "1.example.org", &format!("{}.org", "g".repeat(46))] {
            assert_eq!(good.parse::<ApiGroup>().unwrap().to_string(), good);
        }
        let long = format!("{}org", "g.".repeat(99));
        for bad in ["", "example", "Example.com", ".com", "a..b", "-a.com", "a-.com", "a.com\n", "a_b.com", &long] {
            assert!(refusal::<ApiGroup>(bad).contains("such as stable.example.com"), "{bad}");
        }
        for theirs in ["k8s.io", "cron.k8s.io", "a.b.kubernetes.io"] {
            assert!(refusal::<ApiGroup>(theirs).contains("belongs to Kubernetes"), "{theirs}");
        }
        assert_eq!("ak8s.io".parse::<ApiGroup>().unwrap().to_string(), "ak8s.io");
    }
}

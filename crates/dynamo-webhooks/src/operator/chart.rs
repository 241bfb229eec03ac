//! What the values of the chart say of a release: the same as the chart's own templates.

use gateward::config::{ChartValues, CrdInstaller, RemovedValue, WebhookValues};
use gateward::{IssuerRef, ProvisionMode, Release};
use serde_json::{Map, Value, json};

use super::configuration::{API_VERSION, KIND};
use super::facts::{GROVE_GROUP, TOPOLOGY_BINDINGS};
use super::names;
use super::removed_values::REMOVED_VALUES;

/// Where the values of the operator stand among those of the whole chart.
const OPERATOR: &str = "dynamo-operator";

/// What the values of a release say. They are those of the whole chart, or of the operator's alone.
pub(super) fn chart_values(release: &Release, values: &Value) -> ChartValues {
    let operator = values.get(OPERATOR).filter(|operator| operator.is_object());
    let given = Given(operator.unwrap_or(values));
    let fullname = given.fullname(release);
    let restricted = given.restricted_to(release);
    let installs = restricted.is_none() && given.find("upgradeCRD") != Some(&Value::Bool(false));
    ChartValues {
        removed: match operator {
            Some(operator) => beside(values).into_iter().chain(removed(operator, &format!("{OPERATOR}."))).collect(),
            None => removed(values, ""),
        },
        document: given.document(&fullname, restricted),
        service_account: fullname,
        crd_installer: if installs { CrdInstaller::Pods } else { CrdInstaller::User },
        issuer: given.issuer(),
        webhooks: WebhookValues::of(given.0),
        lookups: vec![(GROVE_GROUP.to_owned(), TOPOLOGY_BINDINGS.to_owned())],
    }
}

/// The schema of the values of the whole chart or of the operator's alone.
pub(super) fn schema() -> Value {
    let read = |text| serde_json::from_str::<Value>(text).unwrap_or_default();
    let operator =
        read(include_str!("../../../../deploy/helm/dynamo-platform/charts/dynamo-operator/values.schema.json"));
    let mut both = operator.clone();
    both["properties"][OPERATOR] = operator;
    both
}

/// The keys beside the operator's that no template reads, with the advice of the whole chart's schema.
fn beside(values: &Value) -> Vec<RemovedValue> {
    let text = include_str!("../../../../deploy/helm/dynamo-platform/values.schema.json");
    let schema = serde_json::from_str::<Value>(text).unwrap_or_default();
    let advice = schema["additionalProperties"]["const"].as_str().unwrap_or_default();
    let given = values.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let unread = given.filter(|(key, _)| schema["properties"].get(key.as_str()).is_none());
    unread.map(|(key, _)| RemovedValue { path: key.clone(), advice: advice.to_owned() }).collect()
}

/// Those of the removed values that are given.
fn removed(values: &Value, prefix: &str) -> Vec<RemovedValue> {
    let given = REMOVED_VALUES.iter().filter(|(path, _)| Given(values).find(path).is_some());
    let removed =
        |(path, advice): &(&str, &str)| RemovedValue { path: format!("{prefix}{path}"), advice: (*advice).to_owned() };
    given.map(removed).collect()
}

/// Values of the operator, as far as they are given.
#[derive(Clone, Copy)]
struct Given<'a>(&'a Value);

impl<'a> Given<'a> {
    /// A value by its keys; `null` is none.
    fn find(self, path: &str) -> Option<&'a Value> {
        path.split('.').try_fold(self.0, |value, key| value.get(key)).filter(|value| !value.is_null())
    }

    fn text(self, path: &str) -> Option<&'a str> {
        self.find(path).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    fn is_on(self, path: &str) -> bool {
        self.find(path) == Some(&Value::Bool(true))
    }

    fn fullname(self, release: &Release) -> String {
        let usual = match self.text("nameOverride") {
            Some(name) => format!("{}-{name}", release.name),
            None => names::fullname(&release.name),
        };
        let fullname = self.text("fullnameOverride").map_or(usual, str::to_owned);
        fullname.strip_suffix('-').unwrap_or(&fullname).to_owned()
    }

    /// The one namespace that the operator serves.
    fn restricted_to(self, release: &'a Release) -> Option<&'a str> {
        let named = ["namespaceRestriction.namespace", "namespaceRestriction.targetNamespace"];
        let named = named.into_iter().find_map(|path| self.text(path));
        self.is_on("namespaceRestriction.enabled").then(|| named.unwrap_or(&release.namespace))
    }

    fn mode(self) -> ProvisionMode {
        if self.is_on("webhook.certManager.enabled") {
            ProvisionMode::CertManager
        } else if self.is_on("webhook.certificateSecret.external") {
            ProvisionMode::External
        } else {
            ProvisionMode::Automatic
        }
    }

    fn issuer(self) -> Option<IssuerRef> {
        let part =
            |part, usual: &str| self.text(&format!("webhook.certManager.issuerRef.{part}")).unwrap_or(usual).to_owned();
        let name = self.text("webhook.certManager.issuerRef.name")?.to_owned();
        Some(IssuerRef { group: part("group", "cert-manager.io"), kind: part("kind", "Issuer"), name })
    }

    /// The configuration file, as far as names, certificates and ports depend on it.
    fn document(self, fullname: &str, restricted: Option<&str>) -> Value {
        let mode = self.mode();
        let mut webhook = Map::new();
        webhook.insert("fullname".into(), fullname.into());
        webhook.insert("certProvisionMode".into(), mode.name().into());
        let mut take = |key: &str, path: &str| {
            if let Some(value) = self.find(path) {
                webhook.insert(key.into(), value.clone());
            }
        };
        take("port", "webhook.port");
        take("secretName", "webhook.certificateSecret.name");
        take("excludeClaimedNamespaces", "webhook.excludeClaimedNamespaces");
        take("certificates", "webhook.certificates");
        take("operatorPrincipals", "webhook.operatorPrincipals");
        if mode != ProvisionMode::Automatic {
            take("caBundle", "webhook.caBundle");
        }
        if let (ProvisionMode::CertManager, Some(from)) = (mode, self.find("webhook.certManager.injectFrom")) {
            webhook.insert("certManager".into(), json!({"injectFrom": from}));
        }
        let mut document = json!({"apiVersion": API_VERSION, "kind": KIND, "server": {"webhook": webhook}});
        if let Some(namespace) = restricted {
            document["namespace"] = json!({"restricted": namespace});
            let periods = [("leaseDuration", "duration"), ("leaseRenewInterval", "renewInterval")];
            for (key, value) in periods {
                if let Some(period) = self.find(&format!("namespaceRestriction.lease.{value}")) {
                    document["namespace"]["scope"][key] = period.clone();
                }
            }
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &Value) -> ChartValues {
        chart_values(&Release { name: "river".into(), namespace: "zoo".into() }, values)
    }

    fn refused(values: &Value) -> Vec<String> {
        of(values).removed.into_iter().map(|removed| removed.path).collect()
    }

    /// The sentence of "Upgrading" in the webhook guide.
    #[test]
    fn the_switch_of_the_webhooks_is_removed_wherever_it_stands() {
        let switch = json!({"webhook": {"enabled": false}});
        assert_eq!(refused(&switch), ["webhook.enabled"]);
        let below = json!({"dynamo-operator": switch});
        assert_eq!(refused(&below), ["dynamo-operator.webhook.enabled"]);
        let advice = &of(&below).removed[0].advice;
        assert!(advice.starts_with("remove this key: webhooks are always on") && advice.ends_with("9443"), "{advice}");
    }

    /// The row "removed" of the infrastructure book, 4.1.
    #[test]
    fn all_values_that_the_chart_had_once_are_removed() {
        let values = json!({
            "webhook": {"enabled": true, "certificateValidity": 365, "certGenerator": {"image": "bitnami/kubectl"}},
            "controllerManager": {"kubeRbacProxy": {"image": {}}, "manager": {"args": ["--leader-elect"]}},
        });
        let mut paths = refused(&values);
        paths.sort();
        let expected = [
            "controllerManager.kubeRbacProxy",
            "controllerManager.manager.args",
            "webhook.certGenerator",
            "webhook.certificateValidity",
            "webhook.enabled",
        ];
        assert_eq!(paths, expected);
    }

    #[test]
    fn what_stands_beside_the_operators_values_is_to_be_moved() {
        let values = json!({"dynamo-operator": {}, "global": {}, "webhook": {"enabled": false}, "nats": null});
        assert_eq!(refused(&values), ["webhook"]);
        let advice = &of(&values).removed[0].advice;
        assert!(advice.starts_with("move or remove this key") && advice.ends_with(OPERATOR), "{advice}");
    }

    #[test]
    fn values_of_today_and_null_are_not_removed() {
        let values = json!({"dynamo-operator": {"webhook": {"enabled": null, "port": 10250}}, "global": {}});
        assert_eq!(refused(&values), [""; 0]);
        assert_eq!(refused(&json!({})), [""; 0]);
    }

    #[test]
    fn the_service_account_has_the_name_that_most_names_begin_with() {
        assert_eq!(of(&json!({})).service_account, "river-dynamo-operator");
        assert_eq!(of(&json!({"nameOverride": "otter"})).service_account, "river-otter");
        assert_eq!(of(&json!({"dynamo-operator": {"fullnameOverride": "otter"}})).service_account, "otter");
    }

    #[test]
    fn an_operator_of_one_namespace_installs_no_crds() {
        assert_eq!(of(&json!({})).crd_installer, CrdInstaller::Pods);
        assert_eq!(of(&json!({"upgradeCRD": false})).crd_installer, CrdInstaller::User);
        assert_eq!(of(&json!({"namespaceRestriction": {"enabled": true}})).crd_installer, CrdInstaller::User);
    }

    #[test]
    fn an_issuer_is_of_cert_manager_and_of_the_namespace_unless_the_values_say_otherwise() {
        let issuer =
            |given: Value| of(&json!({"webhook": {"certManager": {"enabled": true, "issuerRef": given}}})).issuer;
        let named =
            |group: &str, kind: &str| Some(IssuerRef { group: group.into(), kind: kind.into(), name: "pki".into() });
        assert_eq!(issuer(json!({"name": "pki"})), named("cert-manager.io", "Issuer"));
        let foreign = json!({"name": "pki", "kind": "AWSPCAIssuer", "group": "awspca.aws"});
        assert_eq!(issuer(foreign), named("awspca.aws", "AWSPCAIssuer"));
        assert_eq!(issuer(json!({"kind": "ClusterIssuer"})), None);
    }

    #[test]
    fn what_pods_refuse_of_their_configuration_is_in_it() {
        let values = json!({
            "webhook": {"certificates": {"lifetime": "1s", "keyAlgorithm": "RSA"}, "operatorPrincipals": ["keeper"]},
            "namespaceRestriction": {"enabled": true, "lease": {"duration": "2h"}},
        });
        let document = of(&values).document;
        assert_eq!(document["server"]["webhook"]["certificates"], values["webhook"]["certificates"]);
        assert_eq!(document["server"]["webhook"]["operatorPrincipals"], json!(["keeper"]));
        assert_eq!(document["namespace"], json!({"restricted": "zoo", "scope": {"leaseDuration": "2h"}}));
    }

    #[test]
    fn values_of_odd_types_are_passed_over() {
        for odd in [json!([]), json!(7), json!({"webhook": []}), json!({"dynamo-operator": "x", "webhook": "y"})] {
            assert_eq!(refused(&odd), [""; 0], "{odd}");
        }
    }
}

//! The Pod that a server runs in.

use std::net::IpAddr;
#[cfg(feature = "cluster")]
use std::net::Ipv4Addr;

use super::problem::Problem;
use crate::release::Release;

/// The default domain of a cluster.
const CLUSTER_DOMAIN: &str = "cluster.local";

/// The Pod that a server runs in, from the downward API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodEnvironment {
    /// The Pod's name.
    pub pod: String,
    /// The Pod's namespace.
    pub namespace: String,
    /// The Pod's address.
    pub ip: IpAddr,
    /// The Pod's ServiceAccount.
    pub service_account: String,
    /// The release that the Pod belongs to.
    pub instance: String,
    /// The domain of the cluster.
    pub cluster_domain: String,
}

/// Variables, with where the chart takes them from.
const POD: (&str, &str) = ("POD_NAME", "metadata.name");
const NAMESPACE: (&str, &str) = ("POD_NAMESPACE", "metadata.namespace");
const IP: (&str, &str) = ("POD_IP", "status.podIP");
const SERVICE_ACCOUNT: (&str, &str) = ("POD_SERVICE_ACCOUNT", "spec.serviceAccountName");
const INSTANCE: (&str, &str) = ("POD_INSTANCE", "metadata.labels['app.kubernetes.io/instance']");
/// Those of every Pod.
#[cfg(feature = "cli")]
pub(crate) const DOWNWARD: [(&str, &str); 5] = [POD, NAMESPACE, IP, SERVICE_ACCOUNT, INSTANCE];
const DOMAIN: &str = "KUBERNETES_CLUSTER_DOMAIN";
#[cfg(feature = "cluster")]
const HOST: &str = "HOSTNAME";

impl PodEnvironment {
    /// Reads them from the environment. A namespace that isn't set is the one that kubelet writes beside the
    /// ServiceAccount's token.
    pub fn read(variable: impl Fn(&str) -> Option<String>, beside_token: Option<String>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let beside_token = beside_token.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let mut needed = |from, or: Option<String>| wanted(from, set(from.0).or(or), &mut problems);
        let pod = needed(POD, None);
        let namespace = needed(NAMESPACE, beside_token);
        let service_account = needed(SERVICE_ACCOUNT, None);
        let instance = needed(INSTANCE, None);
        let ip = address(needed(IP, None), &mut problems);
        let cluster_domain = set(DOMAIN).unwrap_or_else(|| CLUSTER_DOMAIN.to_owned());
        match (pod, namespace, ip, service_account, instance) {
            (Some(pod), Some(namespace), Some(ip), Some(service_account), Some(instance)) if problems.is_empty() => {
                Ok(Self { pod, namespace, ip, service_account, instance, cluster_domain })
            }
            _ => Err(problems),
        }
    }

    /// The release that the Pod belongs to.
    pub fn release(&self) -> Release {
        Release { name: self.instance.clone(), namespace: self.namespace.clone() }
    }

    /// That of a release where nothing has to be set: what the environment doesn't say is made up. The name tells replicas
    /// apart; a container's host name is its Pod's name.
    #[cfg(feature = "cluster")]
    pub(crate) fn of_release(release: &Release, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let process = || format!("{}-{}", release.name, std::process::id());
        Self {
            pod: set(POD.0).or_else(|| set(HOST)).unwrap_or_else(process),
            namespace: release.namespace.clone(),
            ip: set(IP.0).and_then(|ip| ip.parse().ok()).unwrap_or(Ipv4Addr::UNSPECIFIED.into()),
            service_account: set(SERVICE_ACCOUNT.0).unwrap_or_else(|| "default".to_owned()),
            instance: release.name.clone(),
            cluster_domain: set(DOMAIN).unwrap_or_else(|| CLUSTER_DOMAIN.to_owned()),
        }
    }

    /// Those of nowhere, to look for faults in what doesn't depend on them.
    #[cfg(feature = "cli")]
    pub(crate) fn nowhere() -> Self {
        let name = || "nowhere".to_owned();
        let ip = IpAddr::from([127, 0, 0, 1]);
        let cluster_domain = CLUSTER_DOMAIN.to_owned();
        Self { pod: name(), namespace: name(), ip, service_account: name(), instance: name(), cluster_domain }
    }
}

fn wanted((name, field): (&'static str, &str), value: Option<String>, problems: &mut Vec<Problem>) -> Option<String> {
    if value.is_none() {
        let text =
            format!("is not set; in a Pod it comes from the downward API (fieldPath: {field}), as in the Helm chart");
        problems.push(Problem::of_variable(name, text));
    }
    value
}

fn address(text: Option<String>, problems: &mut Vec<Problem>) -> Option<IpAddr> {
    let text = text?;
    let address = text.parse().ok();
    if address.is_none() {
        problems.push(Problem::of_variable(IP.0, format!("{text:?} is not an IP address")));
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&str, &str); 6] = [
        ("POD_NAME", "otter-1"),
        ("POD_NAMESPACE", "zoo"),
        ("POD_IP", "10.1.2.3"),
        ("POD_SERVICE_ACCOUNT", "keeper"),
        ("POD_INSTANCE", "river"),
        ("KUBERNETES_CLUSTER_DOMAIN", "zoo.example"),
    ];

    fn read(without: &[&str], beside_token: Option<&str>) -> Result<PodEnvironment, Vec<String>> {
        let variable = |name: &str| {
            let found = ALL.iter().find(|(known, _)| *known == name && !without.contains(known));
            found.map(|(_, value)| (*value).to_owned())
        };
        let read = PodEnvironment::read(variable, beside_token.map(str::to_owned));
        read.map_err(|problems| problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn a_pod_is_told_who_it_is() {
        let pod_environment = read(&[], Some("other")).unwrap();
        assert_eq!((pod_environment.pod.as_str(), pod_environment.namespace.as_str()), ("otter-1", "zoo"));
        assert_eq!(pod_environment.ip, IpAddr::from([10, 1, 2, 3]));
        assert_eq!(pod_environment.cluster_domain, "zoo.example");
    }

    #[test]
    fn a_namespace_that_is_not_set_stands_beside_the_token() {
        assert_eq!(read(&["POD_NAMESPACE"], Some("sea\n")).unwrap().namespace, "sea");
        assert_eq!(read(&["POD_NAMESPACE"], Some(" ")).unwrap_err().len(), 1);
    }

    #[test]
    fn a_cluster_domain_that_is_not_set_is_the_usual_one() {
        assert_eq!(read(&["KUBERNETES_CLUSTER_DOMAIN"], None).unwrap().cluster_domain, "cluster.local");
    }

    #[test]
    fn all_that_is_missing_is_told_with_where_it_comes_from() {
        let problems = read(&["POD_NAME", "POD_INSTANCE", "POD_IP"], None).unwrap_err();
        assert_eq!(problems.len(), 3);
        assert_eq!(
            problems[1],
            "the environment variable POD_INSTANCE: is not set; in a Pod it comes from the downward API (fieldPath: \
             metadata.labels['app.kubernetes.io/instance']), as in the Helm chart"
        );
    }

    #[test]
    fn a_text_that_is_no_address_is_told() {
        let variable = |name: &str| Some(if name == "POD_IP" { "otter" } else { "x" }.to_owned());
        let problems = PodEnvironment::read(variable, None).unwrap_err();
        assert_eq!(problems[0].to_string(), "the environment variable POD_IP: \"otter\" is not an IP address");
    }
}

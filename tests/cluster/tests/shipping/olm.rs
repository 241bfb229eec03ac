//! OLM v0 against an API server: a shell around [`olm_model`], which says what it writes.
//!
//! It installs for an `OperatorGroup` of all namespaces, the only one in which OLM installs an operator that converts. What
//! Kubernetes does by the owners of objects, this does by their names: nobody keeps `ClusterServiceVersions` here.

use cluster_tests::{Bed, Sandbox};
use olm_model::{
    Bundle, ConfigurationChange, CsvIdentity, OperatorGroup, ServingPair, WebhookType, accounts, ca_hash, converted,
    deployment, is_healthy, namespace_selector, reconciled, removal, replaces, secret, service, serving_roles,
};
use serde_json::{Value, json};

use crate::certificates::serving_pairs;
use crate::command::{kubectl, kubectl_with};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1";
const CONFIGURATION_KINDS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
const APPLY: [&str; 4] = ["apply", "--server-side", "--force-conflicts", "--field-manager=olm.install"];

/// OLM in the namespace in which it installs.
pub struct Olm<'a> {
    bed: &'a Bed,
    namespace: String,
}

/// A bundle that is installed, with its certificates.
pub struct Installed {
    pub bundle: Bundle,
    identity: CsvIdentity,
    pairs: Vec<(String, ServingPair)>,
}

impl Installed {
    fn new(bundle: Bundle, namespace: &str, pairs: Vec<(String, ServingPair)>) -> Self {
        let identity = CsvIdentity { name: bundle.csv.name.clone(), namespace: namespace.to_owned() };
        Self { bundle, identity, pairs }
    }

    /// The serving certificate, its key and its CA: bundles here have one Deployment.
    pub fn pair(&self) -> &ServingPair {
        &self.pairs[0].1
    }

    /// All that OLM makes of it, but for CRDs and configurations.
    fn objects(&self) -> Vec<Value> {
        let namespace = &self.identity.namespace;
        let within = |object: &Value| {
            let mut object = object.clone();
            object["metadata"]["namespace"] = namespace.clone().into();
            object
        };
        let mut objects = accounts(&self.bundle.csv, namespace);
        objects.extend(self.bundle.others.iter().map(within));
        for (name, spec) in &self.bundle.csv.deployments {
            let webhooks = self.bundle.csv.webhooks_of(name);
            let (_, pair) = self.pairs.iter().find(|(deployment, _)| deployment == name).unwrap();
            objects.push(service(name, spec, namespace, &webhooks));
            objects.push(secret(name, namespace, pair));
            objects.extend(serving_roles(name, spec, namespace));
            objects.push(deployment(name, spec, &self.identity, &ca_hash(&pair.ca)));
        }
        objects
    }
}

impl<'a> Olm<'a> {
    /// Makes the namespace.
    pub async fn in_namespace(sandbox: &'a Sandbox, namespace: &str) -> Self {
        let bed = sandbox.bed();
        let object = json!({"metadata": {"name": namespace}});
        bed.client().post("/api/v1/namespaces", &object).await.unwrap().granted().unwrap();
        Self { bed, namespace: namespace.to_owned() }
    }

    /// Installs a bundle and waits until its Pods serve.
    pub async fn install(&self, bundle: Bundle) -> Installed {
        let pairs = serving_pairs(&bundle.csv, &self.namespace);
        let installed = Installed::new(bundle, &self.namespace, pairs);
        self.put_crds(&installed.bundle).await;
        self.reinstall(&installed).await;
        self.rolled_out(&installed);
        installed
    }

    /// Makes new certificates, of a new CA. Pods roll; nobody waits for them.
    pub async fn rotate(&self, installed: &mut Installed) {
        installed.pairs = serving_pairs(&installed.bundle.csv, &self.namespace);
        self.reinstall(installed).await;
    }

    /// Installs a bundle in the place of one, and waits until its Pods serve. Certificates that are good stay.
    pub async fn upgrade(&self, old: Installed, bundle: Bundle) -> Installed {
        let new = Installed::new(bundle, &self.namespace, old.pairs.clone());
        self.put_crds(&new.bundle).await;
        self.reinstall(&new).await;
        self.rolled_out(&new);
        self.remove(old, Some(&new)).await;
        new
    }

    /// Waits until the Pods are those of the installation.
    pub fn rolled_out(&self, installed: &Installed) {
        for (name, _) in &installed.bundle.csv.deployments {
            let deployment = format!("deployment/{name}");
            kubectl(self.bed, &["rollout", "status", &deployment, "-n", &self.namespace, "--timeout=150s"]);
        }
    }

    /// Certificates and Deployments, then configurations at once, then the stanzas.
    async fn reinstall(&self, installed: &Installed) {
        kubectl_with(self.bed, &APPLY, &installed.objects());
        self.put_configurations(installed, &OperatorGroup::default()).await;
        let (identity, webhooks) = (&installed.identity, &installed.bundle.csv.webhooks);
        let ca = &installed.pair().ca;
        for webhook in webhooks.iter().filter(|webhook| webhook.webhook_type == WebhookType::Conversion) {
            for name in &webhook.conversion_crds {
                self.change_crd(name, |crd| converted(crd, webhook, &self.namespace, ca)).await;
            }
        }
        assert!(is_healthy(identity, webhooks, &self.configurations().await));
    }

    async fn put_configurations(&self, installed: &Installed, group: &OperatorGroup) {
        let (selector, there) = (namespace_selector(group), self.configurations().await);
        let (identity, webhooks) = (&installed.identity, &installed.bundle.csv.webhooks);
        for change in reconciled(identity, webhooks, &there, selector.as_ref(), &installed.pair().ca) {
            self.write(change).await;
        }
    }

    /// Has the configurations follow another group, whose namespaces OLM labels.
    pub async fn follow(&self, installed: &Installed, group: &OperatorGroup) {
        let label = format!("olm.operatorgroup.uid/{}", group.uid);
        for namespace in &group.target_namespaces {
            let labelled = json!({"metadata": {"labels": {label.clone(): ""}}});
            let place = format!("/api/v1/namespaces/{namespace}");
            self.bed.client().merge(&place, &labelled).await.unwrap().granted().unwrap();
        }
        self.put_configurations(installed, group).await;
    }

    /// Creates CRDs, or replaces them as a whole, once every object that is there could be read and fits.
    async fn put_crds(&self, bundle: &Bundle) {
        let mut absent = Vec::new();
        for crd in &bundle.crds {
            let live = self.bed.client().get(&place_of(crd)).await.unwrap();
            if live.status.as_u16() == 404 {
                absent.push(crd.clone());
                continue;
            }
            let live = live.granted().unwrap();
            replaces(&live, crd, &self.objects_of(&live).await).unwrap();
            self.change_crd(crd["metadata"]["name"].as_str().unwrap(), |_| crd.clone()).await;
        }
        self.bed.install_crds(&absent).await.unwrap();
    }

    /// The objects of a kind, in each version that is served.
    pub async fn objects_of(&self, crd: &Value) -> Vec<Value> {
        let mut objects = Vec::new();
        let (group, plural) =
            (crd["spec"]["group"].as_str().unwrap(), crd["spec"]["names"]["plural"].as_str().unwrap());
        for version in crd["spec"]["versions"].as_array().unwrap().iter().filter(|version| version["served"] == true) {
            let path = format!("/apis/{group}/{}/{plural}", version["name"].as_str().unwrap());
            let mut list = self.bed.client().get(&path).await.unwrap().granted().unwrap();
            objects.append(list["items"].as_array_mut().unwrap());
        }
        objects
    }

    /// A CRD as it is.
    pub async fn live(&self, crd: &Value) -> Value {
        self.bed.client().get(&place_of(crd)).await.unwrap().granted().unwrap()
    }

    /// Replaces a CRD by what is made of it, again after a conflict.
    async fn change_crd(&self, name: &str, change: impl Fn(&Value) -> Value) {
        let place = format!("{CRDS}/{name}");
        loop {
            let live = self.bed.client().get(&place).await.unwrap().granted().unwrap();
            let mut changed = change(&live);
            changed["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
            let answer = self.bed.client().put(&place, &changed).await.unwrap();
            if answer.status.as_u16() != 409 {
                answer.granted().unwrap();
                return;
            }
        }
    }

    /// All configurations of webhooks that are there.
    pub async fn configurations(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for kind in CONFIGURATION_KINDS {
            let mut list = self.bed.client().get(&collection_of(kind)).await.unwrap().granted().unwrap();
            for object in list["items"].as_array_mut().unwrap() {
                // Items of a list don't say it.
                object["kind"] = kind.into();
                all.push(object.take());
            }
        }
        all
    }

    async fn write(&self, change: ConfigurationChange) {
        let client = self.bed.client();
        let answer = match &change {
            ConfigurationChange::Create(new) => client.post(&collection_of(key(new)[0]), new).await,
            ConfigurationChange::Overwrite(before, new) => {
                let patch = json!({"metadata": {"labels": new["metadata"]["labels"]}, "webhooks": new["webhooks"]});
                client.merge(&place_of(before), &patch).await
            }
            ConfigurationChange::Delete(before) => client.delete(&place_of(before)).await,
        };
        answer.unwrap().granted().unwrap();
    }

    /// Deletes what belongs to a CSV and not to the one that replaces it. CRDs and their objects stay.
    pub async fn remove(&self, installed: Installed, replaced_by: Option<&Installed>) {
        let mut crds = Vec::new();
        for crd in &installed.bundle.crds {
            crds.push(self.live(crd).await);
        }
        let successor = replaced_by.map(|new| new.bundle.csv.name.as_str());
        let there = self.configurations().await;
        let gone = removal(&installed.bundle.csv, &self.namespace, &there, &crds, successor);
        for configuration in gone.configurations {
            self.write(ConfigurationChange::Delete(configuration)).await;
        }
        for crd in gone.crds {
            self.change_crd(crd["metadata"]["name"].as_str().unwrap(), |_| crd.clone()).await;
        }
        let kept = replaced_by.map(Installed::objects).unwrap_or_default();
        let is_kept = |object: &Value| kept.iter().any(|own| key(own) == key(object));
        let objects: Vec<_> = installed.objects().into_iter().filter(|object| !is_kept(object)).collect();
        kubectl_with(self.bed, &["delete", "--ignore-not-found"], &objects);
    }

    /// Deletes what OLM leaves: the CRDs, and the namespace.
    pub fn forget(&self, bundle: &Bundle) {
        kubectl_with(self.bed, &["delete"], &bundle.crds);
        kubectl(self.bed, &["delete", "namespace", &self.namespace]);
    }
}

/// Where a CRD or a configuration is.
fn place_of(object: &Value) -> String {
    let [kind, _, name] = key(object);
    format!("{}/{name}", collection_of(kind))
}

fn collection_of(kind: &str) -> String {
    match kind {
        "CustomResourceDefinition" => CRDS.to_owned(),
        kind => format!("{CONFIGURATIONS}/{}s", kind.to_lowercase()),
    }
}

/// What tells an object from others: kind, namespace and name.
fn key(object: &Value) -> [&str; 3] {
    let metadata = &object["metadata"];
    [&object["kind"], &metadata["namespace"], &metadata["name"]].map(|text| text.as_str().unwrap_or_default())
}

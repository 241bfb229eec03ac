//! CRDs to be printed or written: each with the stanza that has its objects converted.

use gateward_core::manifest::{self, Installation};
use gateward_core::{Crd, Ordered};
use gateward_lint::schema::read_crd;
use gateward_lint::yaml::{self, Document};
use serde::Deserialize;
use serde_json::Value;

use crate::crds::{Definition, declared};
use crate::operator::Operator;

/// Which stanzas `spec.conversion` are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stanzas {
    /// Those that a CRD lacks.
    Missing,
    /// Those of all kinds whose objects are converted, because the user said where the webhook will be.
    All,
}

/// A CRD to be printed.
pub(crate) enum Printed {
    /// As its author wrote it.
    AsWritten(Crd),
    /// Its documents, in which a stanza was written.
    Completed(Vec<Ordered>),
}

/// The CRDs of an operator, each with the stanza that has its objects converted.
pub(crate) fn printed<P: Operator>(operator: &P, installation: &Installation, stanzas: Stanzas) -> Vec<Printed> {
    let printed = |crd: Crd| {
        let documents = yaml::read(&*crd.yaml()).documents;
        let completed: Vec<_> =
            documents.iter().map(|document| completed(operator, document, installation, stanzas)).collect();
        if completed.iter().all(Option::is_none) {
            return Printed::AsWritten(crd);
        }
        let documents = documents.iter().zip(completed);
        Printed::Completed(documents.map(|(document, done)| done.unwrap_or_else(|| document.in_order())).collect())
    };
    operator.crds().into_iter().map(printed).collect()
}

/// The CRDs of an operator as documents, each with the stanza that has its objects converted by a Service.
pub(crate) fn with_stanzas<P: Operator>(operator: &P, installation: &Installation) -> Vec<Value> {
    let documents = |printed| match printed {
        Printed::AsWritten(crd) => read_crd(&crd).unwrap_or_default(),
        Printed::Completed(documents) => documents.iter().filter_map(|crd| serde_json::to_value(crd).ok()).collect(),
    };
    let documents: Vec<Vec<Value>> = printed(operator, installation, Stanzas::All).into_iter().map(documents).collect();
    documents.into_iter().flatten().filter(|document| !document.is_null()).collect()
}

/// The document with its stanza; `None` where it stays as it is.
fn completed<P: Operator>(
    operator: &P,
    document: &Document,
    installation: &Installation,
    stanzas: Stanzas,
) -> Option<Ordered> {
    let crd = &document.value;
    if stanzas == Stanzas::Missing && crd.pointer("/spec/conversion").is_some() {
        return None;
    }
    let definition = Definition::deserialize(crd).ok()?;
    let stanza = manifest::conversion(declared(operator, &definition)?, installation)?;
    let stanza = Ordered::from(&serde_json::to_value(stanza).ok()?);
    let mut completed = document.in_order();
    let Some(Ordered::Members(spec)) = completed.member_mut("spec") else { return None };
    spec.retain(|(name, _)| name != "conversion");
    spec.insert(0, ("conversion".into(), stanza));
    Some(completed)
}

#[cfg(test)]
mod tests {
    use gateward_core::manifest::yaml::document_in_order;
    use gateward_core::{Webhook, Webhooks};

    use super::*;
    use crate::cli::convert::converter::tests::v1;
    use crate::crds::tests::{CRD, otters};
    use crate::operator::Release;

    fn printed_by(webhooks: &Webhooks, stanzas: Stanzas) -> String {
        let installation = webhooks.installation(&Release { name: "river".into(), namespace: "zoo".into() });
        match printed(webhooks, &installation, stanzas).pop() {
            Some(Printed::Completed(documents)) => documents.iter().map(document_in_order).collect(),
            Some(Printed::AsWritten(crd)) => crd.yaml().into_owned(),
            None => String::new(),
        }
    }

    #[test]
    fn a_crd_gets_the_stanza_that_it_lacks() {
        let text = printed_by(&otters(CRD), Stanzas::Missing);
        let stanza = "\
spec:
  conversion:
    strategy: Webhook
    webhook:
      clientConfig:
        service:
          name: river-webhook-service
          namespace: zoo
          path: /convert
          port: 443
      conversionReviewVersions:
      - v1
  group: example.org
";
        assert!(text.starts_with(stanza), "{text}");
        assert_eq!(printed_by(&Webhooks::new().register(Webhook::<v1::Otter>::new().crd(CRD)), Stanzas::All), CRD);
    }

    #[test]
    fn a_stanza_of_the_authors_is_replaced_where_the_user_says_where_the_webhook_is() {
        let crd = "{spec: {conversion: {strategy: Webhook}, group: example.org, names: {kind: Otter}}}";
        assert_eq!(printed_by(&otters(crd), Stanzas::Missing), crd);
        assert!(printed_by(&otters(crd), Stanzas::All).contains("namespace: zoo"));
    }
}

//! What anybody may have written into the Secrets, their annotations and a caBundle.
//!
//! No panic; a bundle that is read and written stays the same; what is restored lacks nothing that is trusted; the next
//! step is the same whenever it is asked for, and where it writes, what it writes can be read.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use gateward_certs::rotation::{
    CaSecret, CertificateSpec, Change, InjectionTarget, InjectionTargetId, ObservedState, RotationAnnotations, Step,
    next_step, restored_ca_bundle,
};
use gateward_certs::secret::{CA_CRT, SecretData, TLS_CRT, TLS_KEY};
use gateward_certs::{CaBundle, CommonName, Lifetimes, PrivateKey, ServerNames, SystemKeys};
use libfuzzer_sys::fuzz_target;

/// Between the parts of an input.
const PARTING: &[u8] = b"\n%%%%\n";

static SPEC: LazyLock<CertificateSpec> = LazyLock::new(|| CertificateSpec {
    serving_secret: "zoo/otter-cert".to_owned(),
    ca_secret: "zoo/otter-cert-ca".to_owned(),
    annotations: RotationAnnotations::of("otter.example.org"),
    names: ServerNames::of_service("otter", "zoo", "cluster.local").expect("they are names"),
    ca_name: CommonName::new("otter webhooks").expect("it is a name"),
    lifetimes: Lifetimes::default(),
    settle: CertificateSpec::SETTLE,
});

fuzz_target!(|bytes: &[u8]| {
    let mut parts = parts(bytes);
    let mut next = || parts.next().unwrap_or_default();
    let serving = SecretData::default().with(TLS_CRT, next()).with(TLS_KEY, next()).with(CA_CRT, next());
    let data = SecretData::default().with(TLS_CRT, next()).with(TLS_KEY, next());
    let annotations = [&SPEC.annotations.progress, &SPEC.annotations.request]
        .map(|name| (name.clone(), String::from_utf8_lossy(next()).into_owned()));
    let ca = CaSecret { data, annotations: annotations.into() };
    let carried = next();

    assert_reads_what_it_writes(carried);
    let trusted = ca.trusted();
    if let Some(bundle) = restored_ca_bundle(carried, &trusted) {
        assert_eq!(restored_ca_bundle(bundle.to_pem().as_bytes(), &trusted), None, "restored twice");
    }
    if let Ok(key) = PrivateKey::from_pem(ca.data.field(TLS_KEY).unwrap_or_default()) {
        assert!(PrivateKey::from_pem(key.to_pem().as_bytes()).is_ok(), "a key that was read can't be read again");
    }
    assert_decides(serving, ca, carried.to_vec());
});

fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let found = bytes.windows(PARTING.len()).position(|window| window == PARTING);
        rest = found.map(|at| &bytes[at + PARTING.len()..]);
        Some(&bytes[..found.unwrap_or(bytes.len())])
    })
}

fn assert_reads_what_it_writes(text: &[u8]) {
    let (bundle, _) = CaBundle::parse_lossy(text);
    if !bundle.is_empty() {
        assert_eq!(CaBundle::parse(bundle.to_pem().as_bytes()).as_ref(), Ok(&bundle));
    }
}

fn assert_decides(serving: SecretData, ca: CaSecret, bundle: Vec<u8>) {
    let now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
    let mut observed = ObservedState::empty(&SPEC);
    observed.serving_secret = Some(serving);
    observed.ca_secret = Some(ca);
    let id = InjectionTargetId { object: "configuration".to_owned(), entry: "entry".to_owned() };
    observed.targets = vec![InjectionTarget { id, revision: "1".to_owned(), bundle }];
    let step = next_step(&observed, now);
    assert_eq!(next_step(&observed, now), step, "decided otherwise the second time");
    assert!(!step.to_string().is_empty());
    let Step::Write(write) = step else { return };
    match write.contents(&observed, now, &SystemKeys) {
        Ok(Change::CaBundles(writes)) => {
            for write in writes {
                assert!(CaBundle::parse(write.bundle.to_pem().as_bytes()).is_ok(), "{write:?}");
            }
        }
        Ok(Change::CaSecret(_) | Change::ServingSecret(_)) => {}
        // A certificate that is no CA, or a name that can't be issued: told, and tried again.
        Err(why) => assert!(!why.to_string().is_empty()),
    }
}

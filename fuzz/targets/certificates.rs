//! What anybody may have written into the Secrets, their annotations and a caBundle.
//!
//! No panic; a bundle that is read and written stays the same; what is restored lacks nothing that is trusted; the next
//! step is the same whenever it is asked for, and where it writes, what it writes can be read.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use gateward_certs::rotation::{
    AuthoritySecret, Change, Consumer, ConsumerId, PROGRESS, REQUEST, Step, View, Wanted, next_step, restored,
};
use gateward_certs::secret::{CERTIFICATE, PRIVATE_KEY, SecretData, TRUST};
use gateward_certs::{Bundle, CommonName, Lifetimes, PrivateKey, ServerNames, SystemKeys};
use libfuzzer_sys::fuzz_target;

/// Between the parts of an input.
const PARTING: &[u8] = b"\n%%%%\n";

static WANTED: LazyLock<Wanted> = LazyLock::new(|| Wanted {
    leaf_secret: "zoo/otter-cert".to_owned(),
    authority_secret: "zoo/otter-cert-ca".to_owned(),
    names: ServerNames::of_service("otter", "zoo", "cluster.local").expect("they are names"),
    authority_name: CommonName::new("otter webhooks").expect("it is a name"),
    lifetimes: Lifetimes::default(),
    settle: Wanted::SETTLE,
});

fuzz_target!(|bytes: &[u8]| {
    let mut parts = parts(bytes);
    let mut next = || parts.next().unwrap_or_default();
    let leaf = SecretData::default().with(CERTIFICATE, next()).with(PRIVATE_KEY, next()).with(TRUST, next());
    let data = SecretData::default().with(CERTIFICATE, next()).with(PRIVATE_KEY, next());
    let annotations = [PROGRESS, REQUEST].map(|name| (name.to_owned(), String::from_utf8_lossy(next()).into_owned()));
    let authority = AuthoritySecret { data, annotations: annotations.into() };
    let carried = next();

    assert_reads_what_it_writes(carried);
    if let Some(bundle) = restored(carried, &authority) {
        assert_eq!(restored(bundle.to_pem().as_bytes(), &authority), None, "restored twice");
    }
    if let Ok(key) = PrivateKey::from_pem(authority.data.field(PRIVATE_KEY).unwrap_or_default()) {
        assert!(PrivateKey::from_pem(key.to_pem().as_bytes()).is_ok(), "a key that was read can't be read again");
    }
    assert_decides(leaf, authority, carried.to_vec());
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
    let (bundle, _) = Bundle::salvage(text);
    if !bundle.is_empty() {
        assert_eq!(Bundle::parse(bundle.to_pem().as_bytes()).as_ref(), Ok(&bundle));
    }
}

fn assert_decides(leaf: SecretData, authority: AuthoritySecret, bundle: Vec<u8>) {
    let now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
    let mut view = View::empty(&WANTED);
    view.leaf = Some(leaf);
    view.authority = Some(authority);
    let id = ConsumerId { object: "configuration".to_owned(), entry: "entry".to_owned() };
    view.consumers = vec![Consumer { id, revision: "1".to_owned(), bundle }];
    let step = next_step(&view, now);
    assert_eq!(next_step(&view, now), step, "decided otherwise the second time");
    assert!(!step.to_string().is_empty());
    let Step::Write(write) = step else { return };
    match write.contents(&view, now, &SystemKeys) {
        Ok(Change::Bundles(writes)) => {
            for write in writes {
                assert!(Bundle::parse(write.bundle.to_pem().as_bytes()).is_ok(), "{write:?}");
            }
        }
        Ok(Change::AuthoritySecret(_) | Change::LeafSecret(_)) => {}
        // A certificate that is no authority, or a name that can't be issued: told, and tried again.
        Err(why) => assert!(!why.to_string().is_empty()),
    }
}

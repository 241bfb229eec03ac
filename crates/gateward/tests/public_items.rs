//! The public items of the facade, each named from outside of it. `xtask/tests/facade.rs` holds the lists complete.

#![allow(unused_imports, reason = "that they can be named is what is tested")]

mod root {
    use gateward::{
        ALLOWANCE_BASE, ALLOWANCE_FACTOR, AccessQuestion, BOUND_FACTOR, BadValue, BindError, Bound, BoxFuture,
        ByteSize, CREATE, CREATE_AND_UPDATE, CaBundle, CaBundleError, CaInjection, Cap, CertControllerError,
        CertResolver, Client, ClusterReader, ConnectionError, Context, ControllersError, ConversionError,
        ConversionGap, Convert, Converted, Crd, DECODE, Decision, Declaration, Defaulted, Defaulter, DeletingObjects,
        Denial, DerivedNameError, Drain, Drained, DryRun, DynamicKind, Endpoint, Exit, Extension, Facts, FactsError,
        FactsSource, FailurePolicy, FieldPath, Fingerprint, FingerprintError, GroupServed, GroupVersionKind,
        GroupVersionResource, Http2Limits, INCOMPLETE, Identity, IdentityError, Installation, IntoDefaulted,
        IntoDefaulter, IntoService, IntoValidator, IntoVerdict, Issue, IssueKind, IssuerRef, Issues, Label,
        LabelSelector, LenientView, Lifetime, LifetimeError, Lifetimes, Limits, LimitsError, ListLookup, ListQuery,
        Lookup, MOST_ISSUES, MatchPolicy, MetadataRef, MetricPrefixes, Metrics, NameLimit, Names, Need, Notes,
        ObjectName, Operation, Operator, Ordered, Origins, Outcome, OwnCertificates, Patch, PathStyle, PathSubject,
        Permission, PermissionBuilder, PermissionUser, Predecessor, Protocols, Provenance, ProvidedCertificate,
        Provision, ProvisionMode, Raw, Readiness, Reading, Redacted, ReinvocationPolicy, Release, ReportLine, Request,
        Resource, Review, ReviewHandler, ReviewObject, ReviewObserver, ReviewResponse, ReviewService, ReviewSubject,
        ReviewTerms, ReviewVersion, RoundTrip, Rule, STASH, Scope, Segment, Server, ServerBuilder, ServerError,
        ServiceError, Severity, ShutdownSignal, SideEffects, Skip, SpareThread, Stash, State, Store, StoreEvent,
        StoreState, Strictness, StructuralSchemas, Subresource, TrustAnchor, UNKNOWN, UPDATE, UserInfo, Validator,
        Validity, ValidityError, Verdict, VerdictError, WaitGuard, WatchedStore, Webhook, WebhookConfiguration,
        WebhookError, WebhookRoute, Webhooks, WebhooksError, cluster_reader, dns, go_duration, handler, keep_filled,
        label, main, main_with, names, prometheus_client, quantity, resource, run, run_with, rustls_pki_types, schema,
        webhook_configuration, yaml,
    };
}

mod check {
    use gateward::check::{
        Checker, Colour, Counts, CrdError, Defaults, Diagnostic, ObjectRef, RefusedBy, Related, Report, Schemas,
        StoredError, bundle,
    };
}

mod config {
    use gateward::config::{
        CertificateConfig, ChartValues, ClaimSettings, ClaimTreatment, Config, ConfigError, ConfigSource, CrdInstaller,
        Discovered, DiscoveryError, Flag, Flags, HttpVersions, KeyAlgorithm, ListenAddress, Listeners, LogConfig,
        LogFormat, MetricsAccess, NamespaceScope, ObjectLabels, ObjectNames, PodEnvironment, Problem, ProblemSource,
        RemovedValue, RestrictedNamespace, WebhookValues,
    };
}

mod conversion {
    use gateward::conversion::{
        ANNOTATION_LIMIT, ConversionKeys, Strictness, StructuralSchemas, equivalence, raw_parts,
    };
}

mod json {
    use gateward::json::{StrictObjects, decode, inline, patch};
}

mod local {
    use gateward::local::{
        BindError, Drain, Drained, Http2Limits, IdentityError, Listen, Local, Protocols, StartError,
    };
}

mod prelude {
    use gateward::prelude::{
        CREATE, CREATE_AND_UPDATE, Connect, Context, ConversionError, Convert, Create, Defaulted, Defaulter, Delete,
        DeletingObjects, Endpoint, Facts, FieldPath, GroupVersionKind, IntoService, Issue, Issues, Operation,
        PathStyle, Provenance, Raw, Redacted, Request, Resource, Rule, STASH, Scope, Stash, State, Store, UPDATE,
        Update, Validator, Verdict, Webhook, WebhookError, Webhooks, handler, resource,
    };
}

mod testing {
    use gateward::testing::{
        AsyncTestRequest, CatalogueTest, Claim, Findings, JsonDifference, Objects, RoundTrips, Shrinking, Stored,
        TestRequest, TestServer, accepted, asynchronous, block_on, catalogue, differences, objects, rejected,
        round_trips, test_server,
    };
}

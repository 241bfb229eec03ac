//! An entry of the catalogue of bundle rules, and who refuses a bundle that breaks it.

use gateward_core::Severity;

/// Who judges a bundle before or while it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// Operator Lifecycle Manager, the API server that it writes to included.
    OlmV0,
    /// Its successor operator-controller, the API server that it writes to included.
    OlmV1,
    /// `operator-sdk bundle validate` and `opm`.
    Validators,
}

impl Judge {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OlmV0 => "OLM v0",
            Self::OlmV1 => "OLM v1",
            Self::Validators => "static validators",
        }
    }
}

/// When a judge refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The API server holds the CSV against the schema of its CRD.
    CsvSchema,
    /// The install modes are held against the group of the namespace.
    OperatorGroup,
    /// The CSV waits for what it needs.
    Requirements,
    /// Webhook descriptions are judged before anything is created.
    Rules,
    /// Something that OLM creates is refused, or never becomes ready.
    Install,
    /// OLM v1 judges the bundle before it renders it.
    BundleValidate,
    /// OLM v1 renders the manifests.
    Render,
    /// The API server refuses a rendered manifest.
    ApiServer,
    /// The validator of the folders and annotations.
    Format,
    /// The validator of the kinds in `manifests/`.
    Content,
    /// The validator of the CSV and the CRDs together.
    Bundle,
    /// The validator of the CSV.
    Csv,
    /// The validator of CRDs.
    Crd,
    /// An optional validator.
    Optional(Suite),
}

impl Stage {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CsvSchema => "csv-schema",
            Self::OperatorGroup => "operator-group",
            Self::Requirements => "requirements",
            Self::Rules => "rules",
            Self::Install => "install",
            Self::BundleValidate => "bundle-validate",
            Self::Render => "render",
            Self::ApiServer => "api-server",
            Self::Format => "format",
            Self::Content => "content",
            Self::Bundle => "bundle",
            Self::Csv => "csv",
            Self::Crd => "crd",
            Self::Optional(suite) => suite.as_str(),
        }
    }
}

/// Rules that are judged only where they are asked for: the optional validators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// What operatorhub.io asks of a CSV (`operatorhubv2`).
    OperatorHub,
    /// The capability level (`standardcapabilities`).
    Capabilities,
    /// The categories (`standardcategories`).
    Categories,
    /// `good-practices`.
    GoodPractices,
    /// `alpha-deprecated-apis`.
    DeprecatedApis,
    /// The validator of further objects, which only `opm` runs.
    Objects,
}

impl Suite {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OperatorHub,
        Self::Capabilities,
        Self::Categories,
        Self::GoodPractices,
        Self::DeprecatedApis,
        Self::Objects,
    ];

    /// Those that operator-sdk's label `suite=operatorframework` chooses.
    pub const OPERATOR_FRAMEWORK: [Self; 5] =
        [Self::OperatorHub, Self::Capabilities, Self::Categories, Self::GoodPractices, Self::DeprecatedApis];

    /// Its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OperatorHub => "operatorhub",
            Self::Capabilities => "capabilities",
            Self::Categories => "categories",
            Self::GoodPractices => "good-practices",
            Self::DeprecatedApis => "alpha-deprecated-apis",
            Self::Objects => "objects",
        }
    }
}

/// That a judge refuses, and in which words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Who refuses.
    pub judge: Judge,
    /// When.
    pub stage: Stage,
    /// What it prints, as far as that is the same for every bundle; empty where it isn't known.
    pub says: &'static str,
}

/// One entry of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleRule {
    /// The name that findings and documents use.
    pub id: &'static str,
    /// What it demands, as half a sentence.
    pub summary: &'static str,
    /// How much a finding weighs.
    pub severity: Severity,
    /// The suite that asks for it; `None` where it is always judged.
    pub suite: Option<Suite>,
    /// What would be right, for findings that don't say it themselves.
    pub help: &'static str,
    /// Who refuses a bundle that breaks it. Empty for a hole, which shows on the cluster.
    pub refused_by: &'static [Refusal],
}

/// An error that no other program reports, for `..ERROR`.
pub(super) const ERROR: BundleRule =
    BundleRule { id: "", summary: "", severity: Severity::Error, suite: None, help: "", refused_by: &[] };

/// A warning, for `..WARNING`.
pub(super) const WARNING: BundleRule = BundleRule { severity: Severity::Warning, ..ERROR };

/// OLM v0 refuses.
pub(super) const fn v0(stage: Stage, says: &'static str) -> Refusal {
    Refusal { judge: Judge::OlmV0, stage, says }
}

/// OLM v1 refuses.
pub(super) const fn v1(stage: Stage, says: &'static str) -> Refusal {
    Refusal { judge: Judge::OlmV1, stage, says }
}

/// A validator refuses.
pub(super) const fn validator(stage: Stage, says: &'static str) -> Refusal {
    Refusal { judge: Judge::Validators, stage, says }
}

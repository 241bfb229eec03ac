//! What an API server sends and is answered: AdmissionReview, ConversionReview, and what every object has.

pub(crate) mod conversion_review;
pub mod decision;
pub(crate) mod envelope;
pub mod operation;
pub mod request;
pub mod response;
pub mod review;
pub(crate) mod review_stage;
pub(crate) mod review_version;
pub(crate) mod status_reason;
pub mod user_info;

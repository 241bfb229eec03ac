//! AdmissionReview as it is sent and answered.

pub mod operation;
pub mod request;
pub mod response;
pub mod review;
pub(crate) mod review_stage;
pub(crate) mod review_version;
pub(crate) mod status_reason;
pub mod user_info;

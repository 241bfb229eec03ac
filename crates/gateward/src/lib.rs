//! Admission and conversion webhooks for Kubernetes operators: declare once, admit everywhere.

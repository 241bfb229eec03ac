//! Admission rules and defaults of the Dynamo Operator's kinds.

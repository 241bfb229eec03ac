//! The nvidia.com kinds of the Dynamo Operator, in every served version, and their CRDs.

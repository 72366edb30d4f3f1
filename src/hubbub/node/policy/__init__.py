"""An operator's decisions for a machine, read from files: policy, approvers' keys, and identities seen before."""

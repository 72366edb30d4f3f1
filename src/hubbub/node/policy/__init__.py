"""An operator's decisions for a machine, read from files: the policy, the approvers' keys, the identities seen before.
"""

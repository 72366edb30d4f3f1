"""What a machine's operator allows, as files say it: the policy, the keys of approvers, what was seen once."""

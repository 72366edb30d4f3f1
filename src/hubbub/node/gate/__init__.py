"""The gate of a machine: the effects of a call, the policy's decision, and the people to ask."""

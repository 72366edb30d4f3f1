"""The audit log of a machine: requests and decisions, in lines that are chained and sealed."""

"""The audit log of a machine: what was asked of it and what was decided, in lines that are chained and sealed."""

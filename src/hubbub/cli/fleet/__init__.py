"""Commands for machines: joining, approvals, the gate, the audit log."""

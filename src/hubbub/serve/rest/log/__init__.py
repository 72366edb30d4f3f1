"""REST for what happened: the activity, snapshots, reasons, the audit, and webhooks."""

"""REST for the log: activities, snapshots, reasons, the audit, and webhooks."""

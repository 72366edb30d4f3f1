"""REST for the log: activities, snapshots, explanations, the audit, and webhooks."""

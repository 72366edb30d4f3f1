"""The engines: SQLite and PostgreSQL, their writers, locks and notifications."""

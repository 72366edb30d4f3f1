-- Accounts with makers of models: agents that share one are paused together. `notices` counts the limits in a row that
-- named no time. While a presence's account is paused, its clock stands still until `paused_until`.
CREATE TABLE accounts (
    project_id BLOB NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    is_set INTEGER NOT NULL,
    paused_at INTEGER,
    paused_until INTEGER,
    limit_kind TEXT,
    paused_by TEXT,
    notices INTEGER NOT NULL,
    resumed_at INTEGER,
    PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_due ON accounts (paused_until) WHERE paused_until IS NOT NULL;
ALTER TABLE agents ADD COLUMN account TEXT;
CREATE INDEX agents_by_account ON agents (project_id, account) WHERE account IS NOT NULL;
ALTER TABLE presences ADD COLUMN paused_until INTEGER;

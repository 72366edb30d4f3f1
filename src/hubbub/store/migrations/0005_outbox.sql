-- What leaves the hub: comments on GitHub issues, and activities for webhooks. A row is put by the transaction that
-- wants it sent, taken on by one hub at a time, and kept for a while after its end.

-- Who wants to be told of a project's activities. (after_tx, after_seq) is the place in the log up to which they have
-- been put into the outbox.
CREATE TABLE webhooks (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    secret TEXT NOT NULL,
    after_tx INTEGER NOT NULL,
    after_seq INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;
CREATE INDEX webhooks_live ON webhooks (removed_at, project_id, id);

-- Rows of one webhook go one after the other, in the order of seq. While somebody is at a row, that is until
-- leased_until; a row whose attempt was never noted, or ended in doubt, is doubtful: it may have arrived.
CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    project_id BLOB NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    webhook_id BLOB REFERENCES webhooks (id),
    activity INTEGER,
    event TEXT,
    issue TEXT,
    text TEXT,
    task_id BLOB,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    doubtful INTEGER NOT NULL,
    outcome TEXT,
    ended_at INTEGER,
    last_error TEXT
) STRICT;
CREATE INDEX outbox_due ON outbox (next_at) WHERE outcome IS NULL;
CREATE INDEX outbox_waiting ON outbox (webhook_id, seq) WHERE outcome IS NULL;
CREATE INDEX outbox_by_project ON outbox (project_id, seq);
CREATE INDEX outbox_by_outcome ON outbox (project_id, outcome, seq);
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL;

-- What clients have used, added up over five minutes: of one of their conversations and one model, for one task. `told` is what the
-- client itself said that it costs, in millionths of a dollar.
CREATE TABLE spending (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    at INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    client TEXT,
    model TEXT NOT NULL,
    agent TEXT,
    machine TEXT,
    task_id BLOB,
    run_id BLOB,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_written INTEGER NOT NULL,
    told INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_time ON spending (project_id, at);
CREATE INDEX spending_by_task ON spending (task_id, at) WHERE task_id IS NOT NULL;

-- The conversations of clients that are metered, and by which of the ways in which a client tells it: the others would tell the same again.
CREATE TABLE metered (
    project_id BLOB NOT NULL REFERENCES projects (id),
    conversation TEXT NOT NULL,
    source INTEGER NOT NULL,
    heard_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX metered_by_age ON metered (heard_at);

-- What has been counted: a number that was told once, or the total that a counter was at, and when.
CREATE TABLE counted (
    mark BLOB PRIMARY KEY,
    at INTEGER NOT NULL,
    total REAL NOT NULL,
    forget_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX counted_by_age ON counted (forget_at);

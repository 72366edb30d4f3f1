-- The shared world. Written for SQLite; `migrate.py` spells the types for PostgreSQL (BLOB is uuid there).
-- Times are Unix milliseconds. Ids are UUIDv7. Numbers are counted per project.

CREATE TABLE users (
    id BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    password TEXT,
    owns_hub INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE projects (
    id BLOB PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    conflict_mode TEXT NOT NULL,
    repo_url TEXT,
    heartbeat_interval INTEGER NOT NULL,
    heartbeat_ttl INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
    user_id BLOB NOT NULL REFERENCES users (id),
    project_id BLOB NOT NULL REFERENCES projects (id),
    role TEXT NOT NULL,
    PRIMARY KEY (user_id, project_id)
) STRICT, WITHOUT ROWID;

-- Codes that let a person in, as a member of the project.
CREATE TABLE invites (
    hash TEXT PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    id BLOB PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    user_id BLOB REFERENCES users (id),
    project_id BLOB REFERENCES projects (id),
    agent TEXT,
    role TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

-- The names a project knows. presence_id is the presence the agent has, or the last one it had.
CREATE TABLE agents (
    project_id BLOB NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    presence_id BLOB,
    PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE presences (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    instance TEXT NOT NULL,
    condition TEXT NOT NULL,
    doing TEXT,
    output TEXT,
    score REAL,
    progress REAL,
    server TEXT,
    hostname TEXT,
    runtime TEXT,
    workdir TEXT,
    version TEXT,
    terminal TEXT,
    node TEXT,
    thread TEXT,
    config_path TEXT,
    channels TEXT,
    model TEXT,
    ttl INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    end_reason TEXT
) STRICT;
CREATE INDEX presences_lapsing ON presences (expires_at) WHERE ended_at IS NULL;

CREATE TABLE nodes (
    project_id BLOB NOT NULL REFERENCES projects (id),
    key TEXT NOT NULL,
    name TEXT,
    model TEXT,
    runtime TEXT,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    project_id BLOB NOT NULL,
    noun TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (project_id, noun)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    number INTEGER NOT NULL,
    sender TEXT NOT NULL,
    assignee TEXT,
    addressed INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    context TEXT,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL,
    result TEXT,
    parent_id BLOB REFERENCES tasks (id),
    epoch INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    leased INTEGER NOT NULL,
    delivery_id BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    delivered_at INTEGER,
    accepted_at INTEGER,
    started_at INTEGER,
    ended_at INTEGER,
    expires_at INTEGER
) STRICT;
CREATE UNIQUE INDEX tasks_by_number ON tasks (project_id, number);
CREATE INDEX tasks_by_status ON tasks (project_id, status, number);
CREATE INDEX tasks_by_sender ON tasks (project_id, sender, number);
CREATE INDEX tasks_by_assignee ON tasks (project_id, assignee, number);
CREATE INDEX tasks_open ON tasks (project_id, assignee, number) WHERE ended_at IS NULL;
CREATE INDEX tasks_lapsing ON tasks (expires_at)
    WHERE expires_at IS NOT NULL AND status IN ('accepted', 'delivered', 'queued');

-- How many tasks of a project are in each status; kept by the writers, since counting rows is slow when there are many.
CREATE TABLE task_tally (
    project_id BLOB NOT NULL,
    status TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    PRIMARY KEY (project_id, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipient TEXT,
    body TEXT NOT NULL,
    in_reply_to BLOB,
    outcome TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX messages_by_number ON messages (project_id, number);
CREATE INDEX messages_by_thread ON messages (in_reply_to, number) WHERE in_reply_to IS NOT NULL;

-- The inboxes. A row is pending until it is acknowledged or withdrawn.
CREATE TABLE deliveries (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    recipient TEXT NOT NULL,
    task_id BLOB REFERENCES tasks (id),
    message_id BLOB REFERENCES messages (id),
    priority INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    notified_at INTEGER,
    seen_at INTEGER,
    acked_at INTEGER,
    withdrawn_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_pending ON deliveries (project_id, recipient, priority, id)
    WHERE acked_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX deliveries_by_message ON deliveries (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE completions (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    task TEXT NOT NULL,
    task_id BLOB REFERENCES tasks (id),
    result TEXT NOT NULL,
    artifacts TEXT,
    score REAL,
    duration_minutes REAL,
    completed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX completions_by_time ON completions (project_id, completed_at, id);
CREATE INDEX completions_by_agent ON completions (project_id, agent, completed_at, id);

-- What happened. On PostgreSQL, seq is handed out before the commit, so it can appear out of order: readers that must
-- not miss anything go by (tx, seq), up to where every transaction has ended. On SQLite tx is always 0.
CREATE TABLE activity (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tx INTEGER NOT NULL,
    project_id BLOB,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    agent TEXT,
    task_id BLOB,
    message_id BLOB,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX activity_in_order ON activity (tx, seq);
CREATE INDEX activity_by_project ON activity (project_id, tx, seq);
CREATE INDEX activity_by_agent ON activity (project_id, agent, tx, seq) WHERE agent IS NOT NULL;
CREATE INDEX activity_by_task ON activity (task_id, tx, seq) WHERE task_id IS NOT NULL;

-- The answer that was given to a keyed write, for whoever sends the same write again.
CREATE TABLE idempotency (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    reply TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

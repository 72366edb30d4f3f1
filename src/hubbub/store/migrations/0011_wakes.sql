-- What can wake an agent, how each wake-up went, and which letters nobody will read.

-- A program beside an agent's client that asks for its wakes; it is there until `expires_at`, unless it asks again.
CREATE TABLE wakers (
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    instance TEXT NOT NULL,
    method TEXT NOT NULL,
    client TEXT NOT NULL,
    idle INTEGER NOT NULL,
    busy INTEGER NOT NULL,
    thread TEXT,
    host TEXT,
    since INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    refused_at INTEGER,
    PRIMARY KEY (project_id, agent, instance, method)
) STRICT, WITHOUT ROWID;

CREATE TABLE wakes (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    probe INTEGER NOT NULL,
    text TEXT NOT NULL,
    unread INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    taken_at INTEGER,
    instance TEXT,
    client TEXT,
    method TEXT,
    told_at INTEGER,
    result TEXT,
    said TEXT,
    took_ms INTEGER,
    answered_at INTEGER,
    ended_at INTEGER,
    ending TEXT
) STRICT, WITHOUT ROWID;
-- At most one that has not ended for each agent, whoever makes it.
CREATE UNIQUE INDEX wakes_open ON wakes (project_id, agent) WHERE ended_at IS NULL;
CREATE INDEX wakes_by_agent ON wakes (project_id, agent, id);
CREATE INDEX wakes_ended ON wakes (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX wakers_gone ON wakers (expires_at);

-- By which wake a letter was pointed at, and since when it is known that nobody came to read it.
ALTER TABLE deliveries ADD COLUMN wake_id BLOB;
ALTER TABLE deliveries ADD COLUMN dead_at INTEGER;
CREATE INDEX deliveries_dead ON deliveries (project_id, id) WHERE dead_at IS NOT NULL;

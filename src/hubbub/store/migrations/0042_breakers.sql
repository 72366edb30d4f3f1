-- By which rules a project stops agents that go round in circles, where it has set its own; 0: never.
CREATE TABLE breaker_rules (
    project_id BLOB PRIMARY KEY REFERENCES projects (id),
    answering INTEGER NOT NULL,
    repeating INTEGER NOT NULL,
    nesting INTEGER NOT NULL,
    multiplying INTEGER NOT NULL,
    retrying INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The agents that such a rule has stopped, until a person lets them go on.
CREATE TABLE stops (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    agents TEXT NOT NULL,
    count INTEGER NOT NULL,
    task_id BLOB,
    refs TEXT NOT NULL,
    stopped_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stops_by_project ON stops (project_id, stopped_at, id);

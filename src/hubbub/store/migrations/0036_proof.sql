-- What a project asks for before a task counts as completed, where the task says nothing.
CREATE TABLE proof_rules (
    project_id BLOB PRIMARY KEY REFERENCES projects (id),
    done_when TEXT NOT NULL,
    tests TEXT,
    test_files TEXT NOT NULL,
    unproven TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What one task asks for, who let it be completed without that, and what was found when it was completed.
CREATE TABLE contracts (
    task_id BLOB PRIMARY KEY REFERENCES tasks (id),
    project_id BLOB NOT NULL REFERENCES projects (id),
    done_when TEXT,
    waived_by TEXT,
    waived_why TEXT,
    waived_at INTEGER,
    found TEXT,
    found_at INTEGER
) STRICT, WITHOUT ROWID;

-- What hooks saw of agents' work: a command that ran, a file that was edited, and how the checkout was then.
CREATE TABLE sightings (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    at INTEGER NOT NULL,
    began_at INTEGER NOT NULL,
    deed TEXT NOT NULL,
    client TEXT,
    host TEXT,
    place TEXT NOT NULL,
    worktree TEXT,
    repository TEXT,
    command TEXT,
    code INTEGER,
    paths TEXT NOT NULL,
    tree TEXT,
    skew INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sightings_of_agents ON sightings (project_id, agent, at);
CREATE INDEX sightings_by_age ON sightings (at);

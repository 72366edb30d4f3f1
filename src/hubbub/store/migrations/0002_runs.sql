-- Runs, and what belongs to one: dependent tasks, threads, artifacts, reviews. Memory and summaries are the project's.

-- A stretch of work in a project. Each project has a current one from its birth on, nameless until somebody names it.
CREATE TABLE runs (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    name TEXT,
    notebook TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX runs_by_name ON runs (project_id, name);

ALTER TABLE projects ADD COLUMN run_id BLOB REFERENCES runs (id);
ALTER TABLE tasks ADD COLUMN run_id BLOB REFERENCES runs (id);
ALTER TABLE tasks ADD COLUMN gated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN reason TEXT;
ALTER TABLE tasks ADD COLUMN external_id TEXT;
ALTER TABLE messages ADD COLUMN run_id BLOB REFERENCES runs (id);
ALTER TABLE messages ADD COLUMN thread TEXT;
ALTER TABLE messages ADD COLUMN metadata TEXT;

-- The first run of a project that was there before runs were; it bears the id of the project.
INSERT INTO runs (id, project_id, created_at) SELECT id, id, created_at FROM projects;
UPDATE projects SET run_id = id;
UPDATE tasks SET run_id = project_id;
UPDATE messages SET run_id = project_id;

CREATE INDEX tasks_by_run ON tasks (run_id, number);
CREATE INDEX tasks_by_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_external_id ON tasks (run_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX messages_by_run ON messages (run_id, recipient, number);
CREATE INDEX messages_by_thread_name ON messages (project_id, thread, sender, number) WHERE thread IS NOT NULL;

WITH RECURSIVE line (id, depth) AS (
    SELECT id, depth FROM tasks WHERE parent_id IS NULL
    UNION ALL
    SELECT t.id, line.depth + 1 FROM line JOIN tasks t ON t.parent_id = line.id
)
UPDATE tasks SET depth = line.depth FROM line WHERE line.id = tasks.id AND line.depth > 0;

-- What must be completed before a task may be claimed.
CREATE TABLE dependencies (
    task_id BLOB NOT NULL REFERENCES tasks (id),
    position INTEGER NOT NULL,
    needs_id BLOB NOT NULL REFERENCES tasks (id),
    PRIMARY KEY (task_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependencies_by_need ON dependencies (needs_id);

-- A task being looked at before it counts as completed, on the machine of its holder. A lease that its runner renews.
CREATE TABLE checks (
    id BLOB PRIMARY KEY,
    task_id BLOB NOT NULL REFERENCES tasks (id),
    agent TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    passed INTEGER,
    output TEXT
) STRICT;
CREATE INDEX checks_by_task ON checks (task_id, id);

CREATE TABLE artifacts (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    run_id BLOB NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    creator TEXT NOT NULL,
    task TEXT,
    length INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX artifacts_by_name ON artifacts (run_id, name, number);
CREATE INDEX artifacts_by_number ON artifacts (project_id, number);

-- Apart from the rows that are listed: they are large.
CREATE TABLE artifact_contents (
    artifact_id BLOB PRIMARY KEY REFERENCES artifacts (id),
    content TEXT NOT NULL
) STRICT;

CREATE TABLE reviews (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    run_id BLOB NOT NULL REFERENCES runs (id),
    artifact_id BLOB NOT NULL REFERENCES artifacts (id),
    requester TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    verdict TEXT,
    comments TEXT,
    created_at INTEGER NOT NULL,
    submitted_at INTEGER
) STRICT;
CREATE INDEX reviews_by_run ON reviews (run_id, id);

-- A memory is a document of parts: sections with a key, and what was appended without one. agent is '' for the project.
CREATE TABLE memories (
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    version INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_parts (
    project_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    position INTEGER NOT NULL,
    key TEXT,
    content TEXT NOT NULL,
    PRIMARY KEY (project_id, agent, position)
) STRICT;

-- What was said of a run at its end, kept by the run's name, which need not be one that the hub has seen.
CREATE TABLE summaries (
    project_id BLOB NOT NULL REFERENCES projects (id),
    run TEXT NOT NULL,
    agent TEXT NOT NULL,
    text TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, run)
) STRICT;

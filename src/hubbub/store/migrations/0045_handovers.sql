-- For how many minutes an account is to be paused before its tasks are handed over to agents of others; 0: they never are.
ALTER TABLE projects ADD COLUMN hand_over_after INTEGER NOT NULL DEFAULT 0;

-- The tasks that were, each of them once.
CREATE TABLE handovers (
    task_id BLOB PRIMARY KEY REFERENCES tasks (id),
    project_id BLOB NOT NULL REFERENCES projects (id),
    taken_from TEXT NOT NULL,
    given_to TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

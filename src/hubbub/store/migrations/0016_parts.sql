-- The agents that may steer every task of a project, as people have said.
CREATE TABLE coordinators (
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    granted_by TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, agent)
) STRICT, WITHOUT ROWID;

-- Who gave a task the description that it has; NULL: its sender.
ALTER TABLE tasks ADD COLUMN edited_by TEXT;

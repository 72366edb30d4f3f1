-- Files that agents hold because they edit them: for as long as they go on with it, and a while longer.

CREATE TABLE claims (
    presence_id BLOB NOT NULL REFERENCES presences (id),
    number INTEGER NOT NULL,
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    instance TEXT,
    repository TEXT NOT NULL,
    path TEXT NOT NULL,
    entry TEXT NOT NULL,
    branch TEXT,
    worktree TEXT,
    claimed_at INTEGER NOT NULL,
    edited_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (presence_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_by_project ON claims (project_id, agent);
CREATE INDEX claims_due ON claims (expires_at);

-- What a presence holds, beside what it has declared itself: shown together with that.
ALTER TABLE presences ADD COLUMN claimed TEXT;

-- The repository whose paths a project writes without its name, where its address is not set: the first that was seen.
ALTER TABLE projects ADD COLUMN home_repository TEXT;

-- Who changed a file last, and what it was then: `file` is the hash of the repository and the path.
CREATE TABLE file_edits (
    project_id BLOB NOT NULL REFERENCES projects (id),
    file TEXT NOT NULL,
    agent TEXT NOT NULL,
    digest TEXT NOT NULL,
    edited_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_edits_by_time ON file_edits (edited_at);

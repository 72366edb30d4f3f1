-- The newest commit of each agent on each branch, and the paths that the branch has changed. `emptied` are folders from which
-- it has taken files.
CREATE TABLE branch_heads (
    project_id BLOB NOT NULL REFERENCES projects (id),
    repository TEXT NOT NULL,
    agent TEXT NOT NULL,
    branch TEXT NOT NULL,
    head TEXT NOT NULL,
    tree TEXT NOT NULL,
    paths TEXT NOT NULL,
    emptied TEXT NOT NULL,
    host TEXT,
    told_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, repository, agent, branch)
) STRICT, WITHOUT ROWID;
CREATE INDEX branch_heads_by_age ON branch_heads (told_at);

-- What git said of merging two branches, as they were then; `files` are those in conflict, none where they merge.
CREATE TABLE merge_forecasts (
    project_id BLOB NOT NULL REFERENCES projects (id),
    repository TEXT NOT NULL,
    one_agent TEXT NOT NULL,
    one_branch TEXT NOT NULL,
    one_head TEXT NOT NULL,
    other_agent TEXT NOT NULL,
    other_branch TEXT NOT NULL,
    other_head TEXT NOT NULL,
    files TEXT NOT NULL,
    first TEXT NOT NULL,
    found_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, repository, one_agent, one_branch, other_agent, other_branch)
) STRICT, WITHOUT ROWID;

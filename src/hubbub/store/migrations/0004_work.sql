-- What a task is about and what it touched, what a message is for, how a stay of an agent came out.

ALTER TABLE projects ADD COLUMN number INTEGER;
ALTER TABLE projects ADD COLUMN description TEXT;
UPDATE projects SET number = (SELECT count(*) FROM projects earlier WHERE earlier.id <= projects.id);

ALTER TABLE tasks ADD COLUMN area TEXT;
ALTER TABLE tasks ADD COLUMN issue TEXT;
ALTER TABLE tasks ADD COLUMN files TEXT;
CREATE INDEX tasks_by_urgency ON tasks (project_id, status, priority, number);

ALTER TABLE messages ADD COLUMN intent TEXT;

-- Changes of one task wait for each other, so that the order of seq is theirs.
DROP INDEX activity_by_task;
CREATE INDEX activity_by_task ON activity (task_id, seq) WHERE task_id IS NOT NULL;
CREATE INDEX activity_by_kind ON activity (project_id, kind, tx, seq);

ALTER TABLE presences ADD COLUMN token_id BLOB;
ALTER TABLE presences ADD COLUMN secret TEXT;
ALTER TABLE presences ADD COLUMN outcome TEXT;
ALTER TABLE presences ADD COLUMN summary TEXT;
ALTER TABLE presences ADD COLUMN touched TEXT;
CREATE UNIQUE INDEX presences_by_secret ON presences (secret) WHERE secret IS NOT NULL;
CREATE INDEX presences_by_project ON presences (project_id, opened_at, id);

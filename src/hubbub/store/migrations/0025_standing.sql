-- Since when two agents have had something in common.
ALTER TABLE scope_overlaps ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE scope_overlaps SET since = COALESCE(
    (SELECT max(p.since) FROM agents a JOIN presences p ON p.id = a.presence_id
     WHERE a.project_id = scope_overlaps.project_id AND a.name IN (scope_overlaps.one, scope_overlaps.other)), 0);

-- What an agent has under way tells how it is.
CREATE INDEX tasks_under_way ON tasks (project_id, assignee, status)
    WHERE status IN ('accepted', 'blocked', 'working');

-- A question that nobody answered in time is shown until the same is asked again.
CREATE INDEX approvals_of_calls ON approvals (project_id, digest, created_at);

-- Pictures that were kept do not say how things stand: replay begins at the next that is taken.
DELETE FROM keyframes;

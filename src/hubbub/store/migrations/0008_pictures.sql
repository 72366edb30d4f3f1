-- The log made foldable: what each thing looked like after an activity stands beside it, as `patch`; and what a project
-- looked like as a whole is kept now and then, so that any of its moments can be made again from there.

ALTER TABLE activity ADD COLUMN patch TEXT;

-- A project at one moment: `picture` is its JSON, compressed, in base64. It holds what happened up to (tx, seq), and of
-- what comes later in the log the activities that `seen` lists.
CREATE TABLE keyframes (
    project_id BLOB NOT NULL REFERENCES projects (id),
    tx INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    seen TEXT NOT NULL,
    picture TEXT NOT NULL,
    PRIMARY KEY (project_id, tx, seq)
) STRICT;

-- What was said last of why a task is as it is.
ALTER TABLE tasks ADD COLUMN note TEXT;
CREATE INDEX tasks_ended ON tasks (project_id, ended_at) WHERE ended_at IS NOT NULL;

-- Since when an agent is in its condition.
ALTER TABLE presences ADD COLUMN since INTEGER;
UPDATE presences SET since = COALESCE(ended_at, opened_at);

-- Whether the log has told last that the machine is there; expires_at says whether it is.
ALTER TABLE machines ADD COLUMN online INTEGER NOT NULL DEFAULT 0;
CREATE INDEX machines_lapsing ON machines (expires_at) WHERE online = 1;

-- Whether a question to people is about what cannot be undone.
ALTER TABLE approvals ADD COLUMN dangerous INTEGER NOT NULL DEFAULT 0;

-- Mail that waits for people: messages to `hub`, or to a member by their name.
ALTER TABLE deliveries ADD COLUMN for_people INTEGER NOT NULL DEFAULT 0;
UPDATE deliveries SET for_people = 1
WHERE acked_at IS NULL AND withdrawn_at IS NULL
  AND message_id IN (SELECT id FROM messages WHERE kind = 'message')
  AND (recipient = 'hub'
       OR EXISTS (SELECT 1 FROM users u JOIN members m ON m.user_id = u.id
                  WHERE m.project_id = deliveries.project_id AND u.name = deliveries.recipient));
CREATE INDEX deliveries_for_people ON deliveries (project_id, id)
    WHERE for_people = 1 AND acked_at IS NULL AND withdrawn_at IS NULL;

-- Agents that are there, two by two, whose declared scopes meet; `one` comes before `other`.
CREATE TABLE scope_overlaps (
    project_id BLOB NOT NULL REFERENCES projects (id),
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    files TEXT NOT NULL,
    areas TEXT NOT NULL,
    PRIMARY KEY (project_id, one, other)
) STRICT, WITHOUT ROWID;
CREATE INDEX scope_overlaps_by_other ON scope_overlaps (project_id, other);

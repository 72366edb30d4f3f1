-- An agent may speak several tool sets under one name: the instance that speaks for it in each, as JSON.
ALTER TABLE presences ADD COLUMN voices TEXT;
-- When a bare heartbeat of it was recorded last.
ALTER TABLE presences ADD COLUMN heartbeat_told_at INTEGER;
-- The tool set in which its holder took a task.
ALTER TABLE tasks ADD COLUMN door TEXT;

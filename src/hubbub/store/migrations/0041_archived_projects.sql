-- A project that is over: it is read, and nobody works in it, until it is restored.
ALTER TABLE projects ADD COLUMN archived_at INTEGER;

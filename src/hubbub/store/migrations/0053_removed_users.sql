-- When a person was removed from the hub. The row stays: the log and earlier work name them.
ALTER TABLE users ADD COLUMN removed_at INTEGER;

-- When the pause of an account left nobody in its project who goes on.

ALTER TABLE accounts ADD COLUMN all_paused_at INTEGER;

-- Tokens that are lent to the agent of a machine: from which token, and for which order or task.
ALTER TABLE tokens ADD COLUMN lent_from BLOB;
ALTER TABLE tokens ADD COLUMN lent_for BLOB;
CREATE INDEX tokens_lent_from ON tokens (lent_from) WHERE lent_from IS NOT NULL;
CREATE INDEX tokens_lent_for ON tokens (lent_for) WHERE lent_for IS NOT NULL;
CREATE INDEX placements_by_token ON placements (token_id);  -- a token that goes is in none of them

-- Whose own machine asks: the hub, as it calls itself for as long as its process lives.
ALTER TABLE approvals ADD COLUMN hub TEXT;
CREATE INDEX approvals_by_hub ON approvals (hub) WHERE hub IS NOT NULL AND status = 'pending';

-- The questions of one machine, of which those that it does not ask any more are withdrawn when it is linked.
CREATE INDEX approvals_by_machine ON approvals (machine, expires_at) WHERE machine IS NOT NULL;

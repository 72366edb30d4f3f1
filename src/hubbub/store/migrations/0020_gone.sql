-- Over which machine's link a question came; NULL: over none. It ends when that machine is gone.
ALTER TABLE approvals ADD COLUMN machine BLOB;
CREATE INDEX approvals_of_machines ON approvals (machine, created_at) WHERE status = 'pending' AND machine IS NOT NULL;

-- The step's name on the machine where it was seen, and the key of that machine.
ALTER TABLE sightings ADD COLUMN step TEXT;
ALTER TABLE sightings ADD COLUMN machine_key TEXT;

-- The public keys by which machines sign what they saw; old ones stay, so that old signatures can be checked.
CREATE TABLE machine_keys (
    machine BLOB NOT NULL,
    keyid TEXT NOT NULL,
    project_id BLOB NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    public TEXT NOT NULL,
    is_own INTEGER NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (machine, keyid)
) STRICT, WITHOUT ROWID;
CREATE INDEX machine_keys_of_projects ON machine_keys (project_id, is_own);
CREATE INDEX machine_keys_of_hubs ON machine_keys (is_own);

-- What was stated of a completed task, letter by letter, and who was asked to sign it.
CREATE TABLE proof_statements (
    task_id BLOB PRIMARY KEY REFERENCES tasks (id),
    payload TEXT NOT NULL,
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX proof_statements_by_age ON proof_statements (made_at);
CREATE TABLE proof_signatures (
    task_id BLOB NOT NULL REFERENCES tasks (id),
    machine BLOB NOT NULL,
    name TEXT NOT NULL,
    keyid TEXT NOT NULL,
    signature TEXT,
    refusal TEXT,
    answered_at INTEGER,
    PRIMARY KEY (task_id, machine)
) STRICT, WITHOUT ROWID;
CREATE INDEX proof_signatures_open ON proof_signatures (machine) WHERE answered_at IS NULL;

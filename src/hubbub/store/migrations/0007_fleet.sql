-- A fleet: machines that join with a key of their own, what is ordered of them, and the agents that are placed on them.

-- The key of a machine that has joined; NULL where a hub runs on it. `runtime` is the agent that can be asked there,
-- `hub` the process of the hub that holds its link.
ALTER TABLE machines ADD COLUMN token_id BLOB REFERENCES tokens (id);
ALTER TABLE machines ADD COLUMN runtime TEXT;
ALTER TABLE machines ADD COLUMN hub TEXT;
CREATE INDEX machines_by_token ON machines (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX machines_of_hubs ON machines (folded) WHERE token_id IS NULL;

-- What a person signed who answered, for a machine that does not take the hub's word for it.
ALTER TABLE approvals ADD COLUMN signature TEXT;

-- Codes by which a machine joins a project, once; `node` is the only name that it may take, where one was said.
CREATE TABLE join_codes (
    hash TEXT PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    node TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX join_codes_by_age ON join_codes (expires_at);

-- An order on its way to a machine, and what came of it; `machine` may be one that was removed meanwhile. `key` is the hash
-- of the client's own key for the call: who makes the call again gets this one's outcome. It goes where nothing was done.
-- `arguments` are emptied when the order has ended, `code` says then why it was not done.
CREATE TABLE dispatches (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    machine BLOB NOT NULL,
    node TEXT NOT NULL,
    token_id BLOB,
    who TEXT NOT NULL,
    is_person INTEGER NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    chain TEXT NOT NULL,
    key TEXT,
    digest TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT,
    code TEXT,
    created_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
CREATE INDEX dispatches_by_machine ON dispatches (machine, id);
CREATE INDEX dispatches_open ON dispatches (machine, id) WHERE ended_at IS NULL;
CREATE INDEX dispatches_waiting ON dispatches (created_at) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX dispatches_keyed ON dispatches (token_id, key) WHERE key IS NOT NULL;
CREATE INDEX dispatches_ended ON dispatches (ended_at) WHERE ended_at IS NOT NULL;

-- The agents that run on machines, as their machines report them. `token_id` is the key that the agent acts with.
CREATE TABLE placements (
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    machine BLOB NOT NULL REFERENCES machines (id),
    command TEXT NOT NULL,
    started_by TEXT NOT NULL,
    token_id BLOB REFERENCES tokens (id),
    status TEXT NOT NULL,
    since INTEGER NOT NULL,
    pid INTEGER,
    restarts INTEGER NOT NULL,
    exit_code INTEGER,
    reported_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, agent)
) STRICT, WITHOUT ROWID;
CREATE INDEX placements_by_machine ON placements (machine, agent);

-- What an agent was last seen to do, apart from its heartbeat: the last line that it put out, the last tool it called.
CREATE TABLE evidence (
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    node TEXT,
    runtime TEXT,
    last_output TEXT,
    last_output_at INTEGER,
    last_tool TEXT,
    last_tool_at INTEGER,
    PRIMARY KEY (project_id, agent)
) STRICT, WITHOUT ROWID;

-- Machines that agents may use, and what goes with them: questions to people, links to look at one machine, the API key
-- of a project, the lists of agents, and the heads of the machines' audit logs.

-- A question to people, and what became of it. It is open while it waits for an answer and, once approved, until it is
-- spent: both end at expires_at. `receipt` is the hash of what was told to whoever asked, and to nobody else.
CREATE TABLE approvals (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    who TEXT NOT NULL,
    token_id BLOB,
    node TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    folder TEXT NOT NULL,
    digest TEXT NOT NULL,
    shown TEXT NOT NULL,
    reason TEXT NOT NULL,
    elicitation INTEGER NOT NULL,
    receipt TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    answered_by TEXT,
    answered_at INTEGER,
    ended_at INTEGER
) STRICT;
CREATE INDEX approvals_by_project ON approvals (project_id, created_at, id);
CREATE INDEX approvals_by_status ON approvals (project_id, status, created_at, id);
CREATE INDEX approvals_lapsing ON approvals (expires_at) WHERE ended_at IS NULL;
CREATE INDEX approvals_ended ON approvals (ended_at) WHERE ended_at IS NOT NULL;

-- A machine is online until expires_at. `folded` is its name without regard to case, which names one machine of a project.
CREATE TABLE machines (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    folded TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    labels TEXT NOT NULL,
    version TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    first_seen_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX machines_by_name ON machines (project_id, folded);

-- Links by which anyone who has one may look at one machine for a while. Only the hash of a link's secret is kept.
CREATE TABLE shares (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    machine BLOB NOT NULL REFERENCES machines (id),
    hash TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX shares_by_project ON shares (project_id, id);
CREATE INDEX shares_by_machine ON shares (machine);

CREATE TABLE api_keys (
    project_id BLOB PRIMARY KEY REFERENCES projects (id),
    secret TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What an agent has set out to do: `items` is a JSON array of {text, done}.
CREATE TABLE todo_lists (
    project_id BLOB NOT NULL REFERENCES projects (id),
    agent TEXT NOT NULL,
    items TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, agent)
) STRICT, WITHOUT ROWID;

-- How far a machine's audit log had got at some moment: its line `seq` had this hash. One that cannot be true beside an
-- earlier one is kept as broken.
CREATE TABLE audit_heads (
    project_id BLOB NOT NULL REFERENCES projects (id),
    node TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    broken INTEGER NOT NULL,
    kept_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, node, seq, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_heads_by_age ON audit_heads (kept_at);

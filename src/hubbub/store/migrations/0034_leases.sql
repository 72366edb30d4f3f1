-- What somebody holds for as long as they say that they are there, or waits for: ports, databases, processors. `wants` says
-- how many of each thing, `units` which of those that are counted. What was granted has a fence, which rises with each grant.
CREATE TABLE leases (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    number INTEGER NOT NULL,
    things TEXT NOT NULL,
    wants TEXT NOT NULL,
    status TEXT NOT NULL,
    holder TEXT NOT NULL,
    by_tool INTEGER NOT NULL,
    purpose TEXT,
    host TEXT,
    priority INTEGER NOT NULL,
    fence INTEGER,
    units TEXT NOT NULL,
    ttl INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    granted_at INTEGER,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_in_turn ON leases (project_id, priority, number);
CREATE INDEX leases_of_holders ON leases (project_id, holder);
CREATE INDEX leases_due ON leases (expires_at);

-- How many there are of a thing of which there is not only one.
CREATE TABLE capacities (
    project_id BLOB NOT NULL REFERENCES projects (id),
    thing TEXT NOT NULL,
    capacity INTEGER NOT NULL,
    PRIMARY KEY (project_id, thing)
) STRICT, WITHOUT ROWID;

-- Commands that run only while their things are held.
CREATE TABLE lease_rules (
    project_id BLOB NOT NULL REFERENCES projects (id),
    command TEXT NOT NULL,
    things TEXT NOT NULL,
    PRIMARY KEY (project_id, command)
) STRICT, WITHOUT ROWID;

-- The key by which the hub signs what it says of tasks, as base64 of 32 bytes; made when the first is asked for.
CREATE TABLE signing_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    private TEXT NOT NULL,
    made_at INTEGER NOT NULL
) STRICT;

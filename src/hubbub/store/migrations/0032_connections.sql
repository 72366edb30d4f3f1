-- Transport sessions of MCP, which any hub of the store serves: whose they are, in which dialect, of which revision, whether
-- whoever sits at the client can be asked, what tools remember of them, and how many streams were opened, one at a time.
CREATE TABLE connections (
    id TEXT PRIMARY KEY,
    token_id BLOB,
    dialect TEXT NOT NULL,
    revision TEXT NOT NULL,
    asks INTEGER NOT NULL,
    memory TEXT,
    streams INTEGER NOT NULL DEFAULT 0,
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX connections_by_use ON connections (used_at);

-- The resources that they follow.
CREATE TABLE followed (
    connection TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    PRIMARY KEY (connection, address)
) STRICT, WITHOUT ROWID;

-- What tools ask through the client while they run; the answer may come to another hub.
CREATE TABLE questions (
    id TEXT PRIMARY KEY,
    connection TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
    answer TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX questions_of_connection ON questions (connection);

-- What was chosen by a token whose calls come over no connection that lasts.
CREATE TABLE choices (
    token_id BLOB PRIMARY KEY,
    choice TEXT NOT NULL,
    chosen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX choices_by_age ON choices (chosen_at);

-- People in browsers: links that let one in, once, and the logins that come of them or of a password.

CREATE TABLE login_links (
    hash TEXT PRIMARY KEY,
    user_id BLOB NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX login_links_by_age ON login_links (expires_at);

-- A login is a token of a person's that a browser holds as a cookie: it is looked up, expires and is revoked as any
-- token. Here is what only a login has; `browser` is what the browser calls itself.
CREATE TABLE logins (
    id BLOB PRIMARY KEY REFERENCES tokens (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    seen_at INTEGER NOT NULL,
    browser TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX logins_by_user ON logins (user_id);

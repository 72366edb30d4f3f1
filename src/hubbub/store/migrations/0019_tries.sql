-- Who has tried of late to get in with what was wrong. `subject` is a hash: of an address, of a name and an address, of a
-- browser that is known. A window begins with the first try.
CREATE TABLE tries (
    subject TEXT PRIMARY KEY,
    began_at INTEGER NOT NULL,
    tries INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tries_by_age ON tries (began_at);

-- Browsers in which a person has signed in before: of what they keep as a cookie only the hash. What others try in that
-- person's name does not count against them.
CREATE TABLE known_browsers (
    hash TEXT PRIMARY KEY,
    user_id BLOB NOT NULL REFERENCES users (id),
    seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX known_browsers_by_user ON known_browsers (user_id);
CREATE INDEX known_browsers_by_age ON known_browsers (seen_at);

-- Where agents say that they work: areas of a project, and the files that a presence declares.

ALTER TABLE presences ADD COLUMN area TEXT;
ALTER TABLE presences ADD COLUMN files TEXT;

CREATE TABLE areas (
    project_id BLOB NOT NULL REFERENCES projects (id),
    slug TEXT NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    patterns TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, slug)
) STRICT, WITHOUT ROWID;

-- What presences that are there have declared, under the places where others look for it: an area under its slug, a
-- path under itself, a pattern under the folder that holds all it matches. Ranges of places are taken, so they are
-- compared byte by byte.
CREATE TABLE scope_entries (
    presence_id BLOB NOT NULL REFERENCES presences (id),
    position INTEGER NOT NULL,
    project_id BLOB NOT NULL REFERENCES projects (id),
    place TEXT COLLATE BINARY NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (presence_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX scope_entries_by_place ON scope_entries (project_id, place);

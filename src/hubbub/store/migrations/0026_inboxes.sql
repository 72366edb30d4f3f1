-- How full each inbox is: the rows that are neither acknowledged nor withdrawn, and those of them that nobody has
-- looked at. Kept by whoever writes, as counting an inbox takes the longer the fuller it is.
CREATE TABLE inbox_tally (
    project_id BLOB NOT NULL REFERENCES projects (id),
    recipient TEXT NOT NULL,
    pending INTEGER NOT NULL,
    unread INTEGER NOT NULL,
    PRIMARY KEY (project_id, recipient)
) STRICT, WITHOUT ROWID;
INSERT INTO inbox_tally (project_id, recipient, pending, unread)
SELECT project_id, recipient, count(*), count(CASE WHEN seen_at IS NULL THEN 1 END) FROM deliveries
WHERE acked_at IS NULL AND withdrawn_at IS NULL GROUP BY project_id, recipient;

-- Another number at each change of a presence: what was made of presences is good for as long as theirs are the same.
ALTER TABLE presences ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
CREATE INDEX presences_stamped ON presences (id, stamp);

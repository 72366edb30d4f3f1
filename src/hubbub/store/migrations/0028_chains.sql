-- Who asked whom, up to the program that was lent a token: a JSON array of names.
ALTER TABLE tokens ADD COLUMN chain TEXT NOT NULL DEFAULT '[]';

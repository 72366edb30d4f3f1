-- How many calls a second a token may make; NULL: as many as the hub lets every token.
ALTER TABLE tokens ADD COLUMN rate INTEGER;

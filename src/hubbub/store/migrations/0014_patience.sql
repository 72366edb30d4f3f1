-- How many milliseconds the caller of an order waits for a person who is asked first; NULL: as long as the machine does.
ALTER TABLE dispatches ADD COLUMN patience INTEGER;

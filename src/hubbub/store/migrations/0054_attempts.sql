-- Which attempts of a call nothing was done for: of an order, the highest number among the calls with its key, which then
-- keeps its key; of another call of a machine's, the highest number that was refused. NULL where callers gave no number.
ALTER TABLE dispatches ADD COLUMN attempt INTEGER;
ALTER TABLE idempotency ADD COLUMN refused INTEGER;

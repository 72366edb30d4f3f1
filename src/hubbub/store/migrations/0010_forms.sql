-- What people need who look on and steer: who of them wrote, how far letters got, and how they are told of it elsewhere.

-- How a webhook is told: `json`, the activity itself; or `ntfy`, a sentence for a person's telephone.
ALTER TABLE webhooks ADD COLUMN form TEXT NOT NULL DEFAULT 'json';

-- The person who wrote, where the sender is the name of all who have none of their own.
ALTER TABLE messages ADD COLUMN author TEXT;

-- Which letter got anywhere last, for each receiver.
CREATE INDEX deliveries_told ON deliveries (project_id, recipient, id)
    WHERE notified_at IS NOT NULL OR seen_at IS NOT NULL;

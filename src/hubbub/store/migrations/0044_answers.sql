-- The person in whose name the buttons of a webhook's notifications answer questions.
ALTER TABLE webhooks ADD COLUMN answers_by BLOB REFERENCES users (id);

-- How much each token has stored in a day: bytes of texts, as its hubs add them up some seconds later. `subject` is the
-- token's id; of people who have signed in it is their own, as their logins count together.
CREATE TABLE usage (
    subject BLOB NOT NULL,
    day INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    PRIMARY KEY (day, subject)
) STRICT, WITHOUT ROWID;

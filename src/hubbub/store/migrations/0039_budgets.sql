-- How much an agent, a task, a token or the project may use, and how much of it is used, as far as clients have told. Of a daily one
-- `used` is that of the day of `used_on`, counted from 1970.
CREATE TABLE budgets (
    id BLOB PRIMARY KEY,
    project_id BLOB NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    whom TEXT NOT NULL,
    label TEXT NOT NULL,
    daily INTEGER NOT NULL,
    unit TEXT NOT NULL,
    amount INTEGER NOT NULL,
    level TEXT NOT NULL,
    level_at INTEGER NOT NULL,
    since INTEGER NOT NULL,
    used INTEGER NOT NULL,
    used_on INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    heard_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX budgets_by_whom ON budgets (project_id, kind, whom, daily);
CREATE INDEX budgets_spent ON budgets (project_id, kind, label, daily, id) WHERE level = 'spent';

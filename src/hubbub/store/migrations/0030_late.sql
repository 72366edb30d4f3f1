-- Which tasks were told to be late, and since when they were: each time that one becomes late is told once.
CREATE TABLE late_tasks (
    task_id BLOB NOT NULL PRIMARY KEY REFERENCES tasks (id),
    since INTEGER NOT NULL
);

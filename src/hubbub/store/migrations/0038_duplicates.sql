-- By which open tasks are found that may be the same job: numbers made from their words, and from what they name.
CREATE TABLE task_marks (
    project_id BLOB NOT NULL REFERENCES projects (id),
    mark INTEGER NOT NULL,
    task_id BLOB NOT NULL REFERENCES tasks (id),
    PRIMARY KEY (project_id, mark, task_id)
) STRICT, WITHOUT ROWID;

-- What the texts of open tasks say, as it is compared to find those that are the same job.
CREATE TABLE task_jobs (
    project_id BLOB NOT NULL REFERENCES projects (id),
    number INTEGER NOT NULL,
    job TEXT NOT NULL,
    told INTEGER NOT NULL,  -- how often somebody heard of another that is the same
    PRIMARY KEY (project_id, number)
) STRICT, WITHOUT ROWID;

-- By which those to compare are found: numbers made from the project, and from words and names of the task.
CREATE TABLE task_marks (
    mark INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (mark, number)
) STRICT, WITHOUT ROWID;

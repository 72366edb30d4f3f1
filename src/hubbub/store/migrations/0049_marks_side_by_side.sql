-- Marks are other numbers now, so those that are stored would never be found, nor removed.
DELETE FROM task_marks;
DELETE FROM task_jobs;

-- The tasks that an agent has under way lie in the order in which it is at them, so that the first of very many are found at once.
DROP INDEX tasks_under_way;
CREATE INDEX tasks_under_way ON tasks (project_id, assignee, status, (COALESCE(started_at, 0)) DESC, number)
    WHERE status IN ('accepted', 'blocked', 'working');

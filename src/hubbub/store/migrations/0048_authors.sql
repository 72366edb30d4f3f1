-- The person who sent a task by the name of all people, `hub`; the log knows it of the tasks so far.
ALTER TABLE tasks ADD COLUMN author TEXT;
UPDATE tasks SET author = (
    SELECT a.actor FROM activity a
    WHERE a.task_id = tasks.id AND a.kind = 'task.sent' AND a.actor <> 'hub' ORDER BY a.seq LIMIT 1
) WHERE sender = 'hub';

-- The person whom a message to `hub` is meant for: the one whose task or message it answers.
ALTER TABLE messages ADD COLUMN addressee TEXT;
UPDATE messages SET addressee = COALESCE(
    (SELECT t.author FROM tasks t WHERE t.id = messages.in_reply_to),
    (SELECT q.author FROM messages q WHERE q.id = messages.in_reply_to)
) WHERE recipient = 'hub' AND in_reply_to IS NOT NULL;

-- How many heads were told of one log lately.
CREATE INDEX audit_heads_lately ON audit_heads (project_id, node, kept_at);

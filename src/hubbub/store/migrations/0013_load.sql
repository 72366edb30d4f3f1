-- How busy a machine is, as it told last: JSON, as `Load` in hubbub/model/fleet/nodes.py has it. It is no event.
ALTER TABLE machines ADD COLUMN load TEXT;

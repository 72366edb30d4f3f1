-- On SQLite only: every activity has tx 0, and `seq` is the key of the table, so this index said nothing more.
DROP INDEX activity_in_order;

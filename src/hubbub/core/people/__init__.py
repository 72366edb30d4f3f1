"""Projects and their runs, people, and what a token lets its holder do."""

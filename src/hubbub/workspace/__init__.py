"""The folder where a team works, on the machine where it works: who is in the team, and what runs around its tasks."""

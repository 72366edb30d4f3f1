"""The longest text that the hub takes by its own doors; the documented tool sets have limits of their own."""

LONGEST_TEXT = 65_536  # characters of a task, a message, a result or a comment

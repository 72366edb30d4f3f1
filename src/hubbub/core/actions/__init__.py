"""Actions on tasks, for all doors: one function for each verb, the reports of completed work, and the inbox."""

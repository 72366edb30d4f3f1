"""What doors have done with a task: one function for each verb, the reports of completed work, and the inbox."""

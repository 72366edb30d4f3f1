"""Commands for the log: past and live activities, and explanations."""

"""SQL for machines, what they are asked to do, and what they ask of people."""

"""The log of all that happened: looking back, snapshots, answers to repeated writes, and what leaves the hub."""

"""The activity log: history, snapshots, answers to repeated writes, and deliveries that leave the hub."""

"""The activity log: looking back, snapshots, answers to repeated writes, and deliveries that leave the hub."""

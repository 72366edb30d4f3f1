"""Who plays beside the commander and the planner: two workers, a Relay team of makers with a critic, two editors."""

SURVEYOR, LIBRARIAN = "surveyor", "librarian"
ADA, BEN, CAL, CRITIC = "ada", "ben", "cal", "critic"
EMIL, FAYE = "emil", "faye"

WORKERS = (SURVEYOR, LIBRARIAN)
TEAM = (ADA, BEN, CAL, CRITIC)

REVIEWED = f"{CRITIC} reviews it"  # in the description of a task that says so

"""Several reports become one, if they have been written."""

from demo.jobs.desk import Desk, numbered


def report(desk: Desk, subjects: str) -> str:
    """The reports on the subjects, named as in `functions and imports`, in one; `Unable` if one is missing."""
    found = [desk.take(subject.strip()) for subject in subjects.split(" and ")]
    head = f"{numbered(len(found), 'report')} bound: {subjects}"
    return "\n\n".join([head, *found])

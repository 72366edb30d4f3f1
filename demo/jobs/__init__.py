"""The jobs of the agents: each is named by a phrase, and reports on a folder of this project.

`python -m demo.jobs` is the command that the agents run; the text of the task is on its standard input.
"""

# The module of each job, loaded when it is asked for: a command should begin its work at once.
JOBS = {
    "rank functions in": "functions",
    "list open comments in": "comments",
    "count lines in": "lines",
    "rank imports of": "imports",
    "bind reports on": "binding",
    "survey": "survey",
}

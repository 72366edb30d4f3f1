"""The engine of `hubbub work`: any program as an agent.

`engine` keeps the agent present and takes its mail, `job` lives through one task, `program` runs the command, `spool`
keeps results until the hub has them, `guardian` sees to it that no command outlives a worker that was killed.
"""

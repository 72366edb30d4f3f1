"""The engine of `hubbub work`: any program as an agent.

`engine` keeps the agent present and takes its mail, `job` lives through one task, `program` runs the command, which
ends with a worker that is killed, and `spool` keeps results until the hub has them.
"""

"""The engine of `hubbub work`, which makes any program an agent.

`agent_worker` keeps the agent present and takes its mail, `job` runs one task, `shell_command` runs the
command, which ends with a worker that is killed, and `result_spool` stores results until the hub has them.
"""

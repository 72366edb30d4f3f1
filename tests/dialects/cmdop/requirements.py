"""The promises of cmdop's documents, sentence by sentence, in our words: the reference page, and our notes on it."""

from tests.dialects.requirements import Requirements, Section

GENERAL = {
    "all": Section("reference, all tables; notes, tools and words", {
        "tools": "there are 27 tools, of the documented names and inputs",
        "required": "what has no question mark is required in the schema, all else is not",
        "limits": "the documented limits of numbers stand in the schema, and a value out of them is invalid",
        "arrays": "an array result is the JSON array as text, and an object with result as structured content",
        "refusal": "a refusal is a sentence and a code, and an error of the protocol's",
        "unknown": "an unknown tool is a refusal of the code invalid",
        "issue_id": "an issue is a task: its id is the task's number as a string, its url the task's page",
        "comments": "the comments are the messages in the task's thread",
        "status": "the statuses are todo, in_progress, blocked, in_review, done, failed, cancelled, expired",
        "world": "nothing crosses from one project to another",
    }),
    "machine": Section("notes, head", {
        "own": "a call acts on the hub's own machine, unless the request names another",
        "header": "X-Hubbub-Node names it; one that is not connected is offline",
        "none": "without a machine its tools are offline, and those of the hub work all the same",
        "project": "X-Hubbub-Project names the project where a token has several",
        "agent": "X-Hubbub-Agent names the agent where the token is bound to none",
    }),
}  # fmt: skip

BOARD = {
    "issue_list": Section("reference, board tools; notes, tools", {
        "reply": "the answer is an array of rows with id, title, status and more",
        "status": "status narrows it, by the words of the board, open or closed",
        "assignee": "assignee narrows it",
    }),
    "issue_get": Section("reference, board tools; notes, tools", {
        "reply": "the answer holds id, title, body, comments and more",
        "comments": "a comment has its author, its body and its time",
        "unknown": "an unknown id is not_found",
    }),
    "issue_create": Section("reference, board tools", {
        "reply": "the answer holds id and url",
        "title": "title is the task's",
        "body": "body is its description",
        "assignee": "assignee is whom it is sent to, else it is free",
    }),
    "issue_update": Section("reference, board tools; notes, tools", {
        "reply": "the answer is ok",
        "status": "status moves the task",
        "illegal": "a status that it cannot have now is refused, in one sentence",
        "body": "body changes its description",
        "assignee": "assignee gives it to another",
        "free": "a free issue is whose it is that begins it",
        "nothing": "a change of nothing is invalid",
        "unknown": "an unknown id to change is not_found",
    }),
    "issue_close": Section("reference, board tools; notes, tools", {
        "reply": "the answer to closing is ok",
        "completes": "closing an issue completes the task",
        "cancels": "a reason that begins with cancelled, wontfix or duplicate cancels it",
        "unknown": "an unknown id to close is not_found",
        "heard": "a result reaches its sender as a comment on the issue",
    }),
    "task_status": Section("reference, meta tools; notes, tools", {
        "reply": "the answer holds the status in the words of the board, and the result once there is one",
        "unknown": "an unknown task is not_found",
    }),
}  # fmt: skip

META = {
    "todo_write": Section("reference, meta tools; notes, tools", {
        "replaces": "items replace the caller's list",
        "rendered": "the answer is the list as Markdown check boxes",
        "structured": "its structured content holds rendered and items",
        "shown": "people see the list with the agent",
    }),
    "permissions_helper": Section("reference, meta tools; notes, tools", {
        "explain": "explain tells the decision on a call, and the rule that made it",
        "show_policy": "show_policy tells the machine's rules",
        "show_audit_context": "show_audit_context tells the last decisions",
        "suggest_rule": "suggest_rule answers at once with approval_id and the status pending",
        "no_grant": "nothing changes before a person says yes",
    }),
    "skills": Section("reference, meta tools; notes, tools", {
        "skill_list": "skill_list is an array of name, origin and description",
    }),
    "delegate_task": Section("reference, meta tools; notes, tools and runtimes", {
        "reply": "a task that ends soon has text, tool_calls, task_id and status in the answer",
        "board": "it is a task of the hub like any other",
    }),
}  # fmt: skip

MACHINE = {
    "execute_command": Section("reference, terminal and system tools; notes, tools", {
        "reply": "the answer holds stdout, stderr and exit_code",
        "cwd": "cwd is where it runs",
        "timeout": "a command that takes longer than timeout_ms is ended: timeout, with the output so far",
        "background": "with background the answer is its task_id and status",
    }),
    "shell_tasks": Section("reference, terminal and system tools; notes, tools", {
        "reply": "an array of id, command, started_at, status and output_tail",
    }),
    "shell_kill": Section("reference, terminal and system tools", {
        "reply": "the answer holds killed",
    }),
    "write_file": Section("reference, terminal and system tools", {"reply": "the answer holds bytes_written"}),
    "open_file": Section("reference, terminal and system tools; notes, tools", {
        "reply": "the answer holds opened, which is false on a machine without a desktop",
    }),
    "download_file": Section("reference, terminal and system tools; notes, the floor", {
        "loopback": "no address of this machine is ever downloaded from",
    }),
    "read_file": Section("reference, file-read tools; notes, tools", {
        "reply": "the answer holds content and truncated",
        "lines": "start and end are lines, counted from 1, both included",
    }),
    "grep": Section("reference, file-read tools", {"reply": "an array of file, line and text"}),
    "glob": Section("reference, file-read tools", {"reply": "the answer holds matches"}),
    "list_dir": Section("reference, file-read tools", {"reply": "an array of name, type and size"}),
    "read_logs": Section("reference, logs; notes, tools", {"reply": "the answer holds lines, of the daemon's own log"}),
    "connect": Section("reference, remote dispatch; notes, tools", {
        "unknown": "an unknown operation is refused, with the list of those there are",
        "list": "list is an array of name, online, last seen, platform and labels",
        "exec": "exec runs a command on a machine: stdout, stderr, exit_code",
        "exec_elsewhere": "a machine that is not connected is offline, and nobody is asked about it",
        "share": "share mints a link that expires: url, expires_at",
        "key": "key_set, key_show and key_clear mind the project's key, which is shown masked",
        "key_secret": "the project's key is in no output from when it is set",
        "chosen": "workspace_use chooses among a person's workspaces, for the connection",
        "workspaces": "workspace_list, workspace_use and workspace_sync mind the workspaces",
        "whoami": "whoami tells hostname and machine_id",
    }),
    "ssh_session": Section("reference, remote dispatch", {
        "operations": "open, send, read, close and list; a host that cannot be reached is offline",
    }),
    "ask_agent": Section("reference, remote dispatch; notes, tools", {
        "none": "a machine without a runtime says so",
        "reply": "the answer holds text and tool_calls",
        "stream": "ask_agent_stream tells the text as progress while it comes",
        "some": "ask_agents of no machine is invalid",
        "agents": "ask_agents answers by_host, and who timed_out",
    }),
}  # fmt: skip

GATE = {
    "gate": Section("notes, the gate and ask", {
        "denied": "a denied call tells tool, target, decision, source, rule_id and reason",
        "read": "the shipped policy lets agents read and search in the roots without asking",
        "never_asks": "shell_tasks, task_status, permissions_helper and connect list, whoami, workspace_list never ask",
        "approved": "a call that a person approves runs",
        "person_denied": "a call that a person denies is denied, by a person",
        "unanswered": "a call that nobody answers is needs_approval, with the approval's id",
        "spent": "a yes lets one call through, and no other",
        "agent": "no agent's token answers a question",
        "audit": "each call is in the audit log before it is done; without the log nothing is done",
        "redacted": "secrets are in no output",
        "elicitation": "where the operator opted in, the client may answer, in both eras of the protocol",
        "not_opted_in": "where not, no client can",
        "once": "a call with an idempotency key is done once",
    }),
}  # fmt: skip

CMDOP = Requirements("cmdop", {**GENERAL, **BOARD, **META, **MACHINE, **GATE})
requires = CMDOP.requires

"""The tools about the work itself: a list of things to do, skills, work for others, and why something is denied."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from hubbub.core.work import tasks, todos
from hubbub.dialects.call import Call
from hubbub.dialects.cmdop import vocabulary
from hubbub.dialects.cmdop.tool_set import DIALECT, Id, Name, enter
from hubbub.dialects.dialect import Reply
from hubbub.model.people.rights import Right
from hubbub.model.work.todos import ITEM_LENGTH, MOST_ITEMS, TodoItem
from hubbub.store.tx import Tx


class Item(BaseModel):
    """One thing to do."""

    model_config = ConfigDict(strict=True)

    text: Annotated[str, Field(min_length=1, max_length=ITEM_LENGTH)]
    done: bool


ITEM = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "done": {"type": "boolean"}},
    "required": ["text", "done"],
}
Items = Annotated[
    list[Item],
    Field(max_length=MOST_ITEMS),
    WithJsonSchema({"type": "array", "items": ITEM, "maxItems": MOST_ITEMS}),
]


@DIALECT.tool(shown=lambda reply: str(reply["rendered"]))
def todo_write(tx: Tx, call: Call, items: Items) -> Reply:
    """Replace your list of things to do, which people see with you; gives it as check boxes."""
    here = enter(tx, call)
    listed = [TodoItem(text=item.text, done=item.done) for item in items]
    todos.write(tx, here.project.id, here.name, listed)
    return {"rendered": vocabulary.check_boxes(listed), "items": [item.model_dump() for item in items]}


@DIALECT.on_machine(reads=True)
def skill_list() -> None:
    """The skills that can be run: name, origin and description of each."""


@DIALECT.on_machine()
def skill_run(name: str, prompt: str) -> None:
    """Have the machine's agent work on a prompt with a skill's text in front of it."""


@DIALECT.on_machine()
def delegate_task(prompt: str, tools: list[str] | None = None) -> None:
    """Have the machine's agent work on a prompt of its own, with some of the tools only, if you name them.

    What takes longer than 30 seconds goes on after the answer, which then is its task_id for task_status.
    """


@DIALECT.tool(reads=True)
def task_status(tx: Tx, call: Call, task_id: Id) -> Reply:
    """Tell the state of a task, such as a delegated one; with its result, once it has one."""
    here = enter(tx, call, Right.READ)
    task = tasks.find(tx, [here.project.id], task_id)
    result = {"result": task.result} if task.result is not None else {}
    return {"status": vocabulary.STATUS[task.status], **result}


@DIALECT.on_machine(reads=True)
def permissions_helper(
    operation: Literal["explain", "show_policy", "show_audit_context", "suggest_rule"],
    tool: Name | None = None,
    args: dict[str, Any] | None = None,
    rule: Annotated[str, Field(max_length=1000)] | None = None,
    effect: Literal["allow", "ask", "deny"] | None = None,
    reason: Annotated[str, Field(max_length=2000)] | None = None,
) -> None:
    """Understand the machine's gate: explain says what it would decide of a call of tool with args, and by which rule.

    show_policy tells its rules, show_audit_context its last decisions. suggest_rule puts a rule, with its effect and
    your reason, before a person: only they change the rules.
    """

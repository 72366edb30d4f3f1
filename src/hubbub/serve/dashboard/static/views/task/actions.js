// What a task is called, how urgent it is, and what a person can do to it, by button and by key.

import { html } from "../../vendor/ui.js";
import { findTask } from "../../model/states.js";
import { may, shown } from "../../model/store.js";
import { act } from "../../hub/actions.js";
import { t } from "../../i18n.js";
import { ask } from "../../shell/dialogs.js";
import { useKey } from "../../shell/keyboard.js";
import { lazy } from "../../shell/lazy.js";
import { href, route } from "../../shell/router.js";
import { Icon } from "../../ui/controls.js";
import { openDialog, toast } from "../../ui/overlays.js";

// What a task is called, and where it is opened.

/** "T-266". */
export const refOf = (task) => `T-${task.number}`;

/** The address that opens the task beside the view that is shown. */
export function taskHref(task) {
  const { view, query } = route.value;
  return href(view, { ...query, task: task.number });
}

/** The task that is open at the side, if the picture has it. */
export const openTask = (picture) => findTask(route.value.query.task ?? "", picture);

// How urgent a task is: a mark and a word, where it is more urgent than usual.

const ICONS = { critical: "triangle-alert", high: "arrow-up", medium: "circle", low: "arrow-down" };

/** @param {{priority: string, always?: boolean}} props `always`: the usual ones too */
export function Priority({ priority, always = false }) {
  if (!always && priority !== "critical" && priority !== "high") return null;
  return html`<span class="priority" data-priority=${priority}>
    <${Icon} name=${ICONS[priority] ?? "circle"} size=${13} />${t(`board.priority_${priority}`)}</span>`;
}

// What a person can do to a task, as the hub says of each. The inspector, the bulk bar of the board and the list of
// what needs a person offer these, in this order, and nothing else.

/** @typedef {import("../../model/fold.js").Task} Task */

/**
 * @typedef {object} TaskAction
 * @property {string} id  of its words too: `inspector.ID`
 * @property {string} icon
 * @property {boolean} [danger]
 * @property {boolean} [bulk]  whether it may be done to several at once
 * @property {string[]} verbs  of which the hub allows one
 * @property {string[]} [states]  in which it is worth offering
 * @property {(tasks: Task[]) => Promise<object|null>} asks  what else has to be said; null: thought better of it
 * @property {(task: Task, said: object) => Promise<object|null>} run  null: refused, which was told
 * @property {(task: Task) => Promise<object|null>} [undo]  brings it back to how it was, if that can be
 */

const nothing = async () => ({});

/** A dialog of ours, fetched when it is asked for, as a promise of what was said in it; null: nothing. */
async function askIn(name, props) {
  const View = (await lazy("forms"))?.[name];
  return View ? new Promise((resolve) => {
    openDialog((close) => {
      const end = (answer) => {
        close();
        resolve(answer);
      };
      return html`<${View} ...${props} onSay=${end} onClose=${() => end(null)} />`;
    });
  }) : null;
}

/** Asks for one sentence, which is sent as `as`. */
const sentence = (id, as, { danger = false, optional = false, back = "" } = {}) => async (tasks) => {
  const text = await ask({
    title: t(`inspector.${id}_title`, { count: tasks.length, ref: refOf(tasks[0]) }),
    label: t(`inspector.${id}_label`), action: t(`inspector.${id}`), danger, optional,
    back: back ? t(back) : undefined,
  });
  return text === null ? null : { [as]: text };
};

const call = (name) => (task, values) => act(name, { task: task.id, ...values });

/** @type {TaskAction[]} */
export const TASK_ACTIONS = [
  {
    id: "approve_work", icon: "check", verbs: ["approve"], bulk: true, asks: nothing, run: call("approveWork"),
  },
  {
    id: "request_changes", icon: "reply", verbs: ["request-changes"],
    asks: sentence("request_changes", "comment"), run: call("requestChanges"),
  },
  {
    id: "answer", icon: "reply", verbs: ["comment"], states: ["blocked", "waiting"],
    asks: ([task]) => askIn("Answer", { task }), run: answer,
  },
  { id: "retry", icon: "rotate-ccw", verbs: ["retry"], bulk: true, asks: nothing, run: call("retry") },
  {
    id: "reassign", icon: "user-plus", verbs: ["reassign", "retry"], bulk: true,
    asks: (tasks) => askIn("Reassign", { tasks }), run: reassign, undo: giveBack,
  },
  {
    id: "cancel", icon: "ban", verbs: ["cancel"], bulk: true, danger: true,
    asks: sentence("cancel", "reason", { danger: true, optional: true, back: "inspector.cancel_not" }),
    run: call("cancel"),
    undo: (task) => act("retry", { task: task.id }),
  },
  {
    id: "release", icon: "unlink", verbs: ["release"], bulk: true,
    asks: sentence("release", "reason"), run: call("release"), undo: giveBack,
  },
  {
    id: "complete", icon: "circle-check", verbs: ["complete"], bulk: true,
    asks: sentence("complete", "result", { optional: true }), run: call("complete"),
  },
  { id: "edit", icon: "pencil", verbs: ["describe"], asks: ([task]) => askIn("Edit", { task }), run: edit },
];

/** Whether the hub would let a person do that to a task as it is. @param {TaskAction} action @param {Task} task */
export const isAble = ({ verbs, states }, task) =>
  verbs.some((verb) => task.may.includes(verb)) && (states?.includes(task.state) ?? true);

/** What may be done to a task as it is, the best first; nothing for those who may only look. */
export const actionsOn = (task) => TASK_ACTIONS.filter((action) => isAble(action, task));

/** What to call it: work that nobody has is assigned, not reassigned. */
export const labelOf = (action, task) =>
  (action.id === "reassign" && task && !task.assignee ? t("inspector.assign") : t(`inspector.${action.id}`));

/**
 * Do one of them to one task: ask what has to be said, call the hub, and say that it is done.
 * @param {string} id @param {Task} task @param {object} [said] what would be asked for
 */
export async function perform(id, task, said) {
  if (!may.value.write) return false;
  const action = TASK_ACTIONS.find((each) => each.id === id);
  const values = said ?? await action.asks([task]);
  if (values === null || !(await action.run(task, values))) return false;
  toast(t(`inspector.${id}_done`, { ref: refOf(task), to: values.to ?? "" }), { undo: undoing(action, [task]) });
  return true;
}

/**
 * What takes back what was done to tasks, as they were before; nothing where that cannot be taken back.
 * @param {TaskAction} action @param {Task[]} tasks
 */
const undoing = ({ undo }, tasks) =>
  undo && (async () => {
    const answers = await Promise.all(tasks.map(undo));
    if (answers.some(Boolean)) toast(t("inspector.undone"));
  });

/** Do one of them to several; in the end one sentence says what came of it. */
export async function performOnAll(id, tasks) {
  const action = TASK_ACTIONS.find((each) => each.id === id);
  const able = tasks.filter((task) => isAble(action, task));
  if (!able.length) return toast(t("board.bulk_none"), { kind: "error" });
  const values = await action.asks(able);
  if (values === null) return undefined;
  const answers = await Promise.all(able.map((task) => action.run(task, values)));
  const done = answers.filter(Boolean).length;
  const left = tasks.length - done;
  const outcome = t(`board.bulk_${id}`, { count: done });
  const undo = undoing(action, able.filter((_task, at) => answers[at]));
  return toast(left ? `${outcome} ${t("board.bulk_left", { count: left })}` : outcome, { undo });
}

/** Work that has ended must begin again before somebody else can have it. */
async function reassign(task, { to }) {
  if (!task.may.includes("reassign") && !(await act("retry", { task: task.id }))) return null;
  return act("reassign", { task: task.id, to });
}

/** Let whoever had a task have it again; what nobody had is put back. */
function giveBack({ id: task, assignee: to }) {
  return to ? act("reassign", { task, to }) : act("release", { task, reason: t("inspector.undone") });
}

/** Say something to whoever works on a task; letting the task go on says it too. */
function answer({ id: task }, { text, goOn }) {
  return goOn ? act("unblock", { task, reason: text }) : act("comment", { task, text });
}

/** Change what is to be done, and who is to do it, as far as either is new. */
async function edit(task, { text, to }) {
  if (text !== undefined && !(await act("describe", { task: task.id, text }))) return null;
  return to ? reassign(task, { to }) : {};
}

// What the keys do to the task whose card has the focus, or that is open at the side.

/** The task that a card stands for: `task:ID`. */
export const taskOf = (item) => (item?.startsWith("task:") ? shown.value.tasks.get(item.slice(5)) : undefined);

/** `a` approves work that is in review, `r` says something about the task. */
export function useTaskKeys() {
  const which = (item) => taskOf(item) ?? (item ? undefined : openTask(shown.value));
  useKey("a", "needs.key_approve", (item) => {
    const task = which(item);
    if (!task || !task.may.includes("approve")) return false;
    return void perform("approve_work", task);
  });
  useKey("r", "needs.key_reply", (item) => {
    const task = which(item);
    return task ? void perform("answer", task) : false;
  });
}

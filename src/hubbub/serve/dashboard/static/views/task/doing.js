// What a person can do to a task, as the hub says of each. The inspector, the bulk bar of the board and the list of
// what needs a person offer these, in this order, and nothing else.

import { act } from "../../hub/actions.js";
import { may } from "../../model/moment.js";
import { ask } from "../../shell/asked.js";
import { late } from "../../shell/late.js";
import { toast } from "../../ui/toasts.js";
import { openDialog } from "../../ui/dialogs.js";
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { refOf } from "./names.js";

/** @typedef {import("../../model/fold.js").Task} Task */

/**
 * @typedef {object} Doing
 * @property {string} id  of its words too: `inspector.ID`
 * @property {string} icon
 * @property {boolean} [danger]
 * @property {boolean} [bulk]  whether it may be done to several at once
 * @property {string[]} verbs  of which the hub allows one
 * @property {string[]} [states]  in which it is worth offering
 * @property {(tasks: Task[]) => Promise<object|null>} asks  what else has to be said; null: thought better of it
 * @property {(task: Task, said: object) => Promise<object|null>} run  null: refused, which was told
 */

const nothing = async () => ({});

/** A dialog of ours, fetched when it is asked for, as a promise of what was said in it; null: nothing. */
async function said(part, name, props) {
  const View = (await late(part))?.[name];
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
const sentence = (id, as, { danger = false, optional = false } = {}) => async (tasks) => {
  const text = await ask({
    title: t(`inspector.${id}_title`, { count: tasks.length, ref: refOf(tasks[0]) }),
    label: t(`inspector.${id}_label`), action: t(`inspector.${id}`), danger, optional,
  });
  return text === null ? null : { [as]: text };
};

const call = (name) => (task, values) => act(name, { task: task.id, ...values });

/** @type {Doing[]} */
export const DOINGS = [
  {
    id: "approve_work", icon: "check", verbs: ["approve"], bulk: true, asks: nothing, run: call("approveWork"),
  },
  {
    id: "request_changes", icon: "reply", verbs: ["request-changes"],
    asks: sentence("request_changes", "comment"), run: call("requestChanges"),
  },
  {
    id: "answer", icon: "reply", verbs: ["comment"], states: ["blocked", "waiting"],
    asks: ([task]) => said("answer", "Answer", { task }), run: answer,
  },
  { id: "retry", icon: "rotate-ccw", verbs: ["retry"], bulk: true, asks: nothing, run: call("retry") },
  {
    id: "reassign", icon: "user-plus", verbs: ["reassign", "retry"], bulk: true,
    asks: (tasks) => said("reassign", "Reassign", { tasks }), run: reassign,
  },
  {
    id: "cancel", icon: "ban", verbs: ["cancel"], bulk: true, danger: true,
    asks: sentence("cancel", "reason", { danger: true, optional: true }), run: call("cancel"),
  },
  {
    id: "release", icon: "unlink", verbs: ["release"], bulk: true,
    asks: sentence("release", "reason"), run: call("release"),
  },
  {
    id: "complete", icon: "circle-check", verbs: ["complete"], bulk: true,
    asks: sentence("complete", "result", { optional: true }), run: call("complete"),
  },
];

/** Whether the hub would let a person do that to a task as it is. */
export const isAble = ({ verbs, states }, task) =>
  verbs.some((verb) => task.may.includes(verb)) && (states?.includes(task.state) ?? true);

/** What may be done to a task as it is, the best first; nothing for those who may only look. */
export const doingsOf = (task) => DOINGS.filter((doing) => isAble(doing, task));

/** What to call it: work that nobody has is assigned, not reassigned. */
export const labelOf = (doing, task) =>
  (doing.id === "reassign" && task && !task.assignee ? t("inspector.assign") : t(`inspector.${doing.id}`));

/** Do one of them to one task: ask what has to be said, call the hub, and say that it is done. */
export async function perform(id, task) {
  if (!may.value.write) return false;
  const doing = DOINGS.find((each) => each.id === id);
  const values = await doing.asks([task]);
  if (values === null || !(await doing.run(task, values))) return false;
  toast(t(`inspector.${id}_done`, { ref: refOf(task), to: values.to ?? "" }));
  return true;
}

/** Do one of them to several; in the end one sentence says what came of it. */
export async function performOnAll(id, tasks) {
  const doing = DOINGS.find((each) => each.id === id);
  const able = tasks.filter((task) => isAble(doing, task));
  if (!able.length) return toast(t("board.bulk_none"), { kind: "error" });
  const values = await doing.asks(able);
  if (values === null) return undefined;
  const answers = await Promise.all(able.map((task) => doing.run(task, values)));
  const done = answers.filter(Boolean).length;
  const left = tasks.length - done;
  const outcome = t(`board.bulk_${id}`, { count: done });
  return toast(left ? `${outcome} ${t("board.bulk_left", { count: left })}` : outcome);
}

/** Work that has ended must begin again before somebody else can have it. */
async function reassign(task, { to }) {
  if (!task.may.includes("reassign") && !(await act("retry", { task: task.id }))) return null;
  return act("reassign", { task: task.id, to });
}

/** Say something to whoever works on a task, and let the task go on if that was what it waited for. */
async function answer(task, { text, goOn }) {
  const told = await act("comment", { task: task.id, text });
  if (!told || !goOn) return told;
  return act("unblock", { task: task.id, reason: text });
}

// What a person can do about each kind of need, the best first. Each is `{id, label, run | href}` and, for some,
// the `key` that does it and what the button looks like.

import { act } from "../../hub/actions.js";
import { findTask } from "../../model/states.js";
import { may, shown } from "../../model/moment.js";
import { settled } from "../../model/waiting.js";
import { href } from "../../shell/router.js";
import { ask } from "../../shell/asked.js";
import { toast } from "../../ui/toasts.js";
import { list, t } from "../../words.js";
import { labelOf, DOINGS, perform } from "../task/doing.js";
import { refOf, taskHref } from "../task/names.js";
import { approve, armed, deny } from "./approving.js";

const open = (task) => task && { id: "open", label: refOf(task), href: taskHref(task) };
const doing = (id, task, more = {}) => {
  const label = labelOf(DOINGS.find((each) => each.id === id), task);
  return { id, label, run: () => perform(id, task), ...more };
};

const OF_KIND = {
  approval: ({ approval, task }) => [
    {
      id: "approve", key: "a", primary: true, run: () => approve(approval),
      label: armed.value === approval.id ? t("needs.approve_sure") : t("needs.approve"),
      danger: armed.value === approval.id,
    },
    { id: "deny", label: t("needs.deny"), run: () => deny(approval) },
    open(task),
  ],
  question: ({ task, agent }) => (task
    ? [
      doing("answer", task, { key: "r", primary: true }),
      { id: "why", label: t("needs.why") },
      doing("reassign", task),
      open(task),
    ]
    : [
      { id: "answer", key: "r", primary: true, label: t("inspector.answer"), run: () => writeTo(agent.name) },
      { id: "fleet", label: t("needs.open_agent"), href: href("fleet", { agent: agent.name }) },
    ]),
  letter: ({ letter }) => [
    { id: "reply", key: "r", primary: true, label: t("needs.reply"), run: () => reply(letter) },
    { id: "done", label: t("needs.done"), run: () => acknowledge(letter) },
    open(findTask(letter.in_reply_to ?? letter.thread ?? "", shown.value)),
  ],
  expired: (need) => [
    { id: "again", primary: true, label: t("needs.ask_again"), run: () => askAgain(need) },
    { id: "done", label: t("needs.done"), run: () => settle(need) },
    open(need.task),
  ],
  stale: ({ agent, task, held }) => [
    task && doing("reassign", task, { primary: true }),
    { id: "release", label: t("needs.release"), run: () => releaseAll(agent, held) },
    { id: "why", label: t("needs.why") },
    open(task),
  ],
  conflict: ({ overlap }) => [
    { id: "map", label: t("needs.open_map"), primary: true, href: href("files", { q: overlap.files[0] ?? "" }) },
    { id: "both", label: t("needs.message_both"), key: "r", run: () => writeTo(...overlap.agents) },
  ],
  failed: ({ task }) => [
    doing("retry", task, { primary: true }), doing("reassign", task), open(task),
  ],
  late: ({ task }) => [
    { id: "why", label: t("needs.why"), primary: true },
    doing("reassign", task),
    doing("cancel", task),
    open(task),
  ],
};

/** What can be done about a need; those who may only look are shown where to look. */
export function actingOn(need) {
  const all = OF_KIND[need.kind](need).filter(Boolean);
  const able = may.value[need.approval?.right ?? "write"];
  return all.filter((each) => each.href || each.id === "why" || able || !each.run);
}

/** Ask for a text and send it to each of these agents. */
async function writeTo(...names) {
  const title = t("needs.write_title", { names: list(names) });
  const text = await ask({ title, label: t("needs.write_label"), action: t("needs.send") });
  if (text === null) return;
  const answers = await Promise.all(names.map((to) => act("send", { to, text })));
  const told = names.filter((_name, index) => answers[index]);
  if (told.length) toast(t("needs.sent", { names: list(told) }));
}

/** Answer a letter; who answers has read it. */
async function reply(letter) {
  const title = t("needs.reply_title", { name: letter.sender });
  const text = await ask({ title, label: t("needs.write_label"), action: t("needs.send"), hint: letter.text });
  if (text === null) return;
  if (!(await act("send", { to: letter.sender, text, in_reply_to: letter.message_id }))) return;
  await act("acknowledge", { letter: letter.id });
  toast(t("needs.sent", { names: letter.sender }));
}

const settle = ({ key }) => (settled.value = new Set([...settled.value, key]));

/** Tell whoever asked that an answer can be had now. */
async function askAgain(need) {
  const { who, shown: call } = need.approval;
  if (!(await act("send", { to: who, text: t("needs.ask_again_text", { call }) }))) return;
  settle(need);
  toast(t("needs.sent", { names: who }));
}

async function acknowledge(letter) {
  if (await act("acknowledge", { letter: letter.id })) toast(t("needs.acknowledged"));
}

/** Put everything that a silent agent holds back into the open queue. */
async function releaseAll(agent, held) {
  const title = t("needs.release_title", { name: agent.name, count: held.length });
  const reason = await ask({ title, label: t("inspector.release_label"), action: t("needs.release") });
  if (reason === null) return;
  const answers = await Promise.all(held.map((task) => act("release", { task: task.id, reason })));
  const count = answers.filter(Boolean).length;
  if (count) toast(t("needs.released", { count }));
}

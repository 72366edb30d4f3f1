// What a person says to those who wait, where something has to be asked first; fetched when somebody says it.

import { settled } from "../model/needs.js";
import { act } from "../hub/actions.js";
import { list, t } from "../i18n.js";
import { ask } from "../shell/dialogs.js";
import { toast } from "../ui/overlays.js";
import { HUB, senderOf } from "./deliveries.js";

/** Deny what an agent asked for; the agent is told why, if somebody says why. */
export async function deny({ id: approval, who }) {
  const title = t("needs.deny_title", { who });
  const reason = who === HUB ? "" : await ask({
    title, label: t("needs.deny_label"), action: t("needs.deny"), danger: true, optional: true,
  });
  if (reason === null || !(await act("deny", { approval, ...(reason && { reason }) }))) return;
  toast(t("needs.denied", { who }));
}

/** Ask for a text and send it to each of these agents. */
export async function writeTo(...names) {
  const title = t("needs.write_title", { names: list(names) });
  const text = await ask({ title, label: t("needs.write_label"), action: t("needs.send") });
  if (text === null) return;
  const answers = await Promise.all(names.map((to) => act("send", { to, text })));
  const told = names.filter((_name, index) => answers[index]);
  if (told.length) toast(t("needs.sent", { names: list(told) }));
}

/** Answer a letter; who answers has read it. */
export async function reply(letter) {
  const title = t("needs.reply_title", { name: senderOf(letter) });
  const text = await ask({ title, label: t("needs.write_label"), action: t("needs.send"), hint: letter.text });
  if (text === null) return;
  if (!(await act("send", { to: letter.sender, text, in_reply_to: letter.message_id }))) return;
  await act("acknowledge", { letter: letter.id });
  toast(t("needs.sent", { names: senderOf(letter) }));
}

/** Tell whoever asked that an answer can be had now. */
export async function askAgain(need) {
  const { who, shown: call } = need.approval;
  if (!(await act("send", { to: who, text: t("needs.ask_again_text", { call }) }))) return;
  settled.value = new Set([...settled.value, need.key]);
  toast(t("needs.sent", { names: who }));
}

/** Put everything that a silent agent holds back into the open queue. */
export async function releaseAll(agent, held) {
  const title = t("needs.release_title", { name: agent.name, count: held.length });
  const reason = await ask({ title, label: t("inspector.release_label"), action: t("needs.release") });
  if (reason === null) return;
  const answers = await Promise.all(held.map((task) => act("release", { task: task.id, reason })));
  const count = answers.filter(Boolean).length;
  if (count) toast(t("needs.released", { count }));
}

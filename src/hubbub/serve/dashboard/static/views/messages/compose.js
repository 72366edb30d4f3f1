// Writing something new: to one agent, to several, or to everyone who is there; as a message or as a task.

import { html, useState } from "../../vendor/ui.js";
import { act } from "../../hub/actions.js";
import { shown } from "../../model/moment.js";
import { go } from "../../shell/router.js";
import { toast } from "../../ui/toasts.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { Select, TextArea } from "../../ui/field.js";
import { written } from "../../ui/key.js";
import { list, t } from "../../words.js";
import { Recipients } from "./recipients.js";

/** @param {{to?: string[], as?: "message"|"task", onClose: () => void}} props */
export function Compose({ to: first = [], as: kind = "message", onClose }) {
  const [to, setTo] = useState(first);
  const [everyone, setEveryone] = useState(false);
  const [as, setAs] = useState(kind);
  const [text, setText] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const toAll = everyone && as === "message";
  const isReady = text.trim() !== "" && (toAll || to.length > 0) && !isBusy;
  const send = async () => {
    if (!isReady) return;
    setIsBusy(true);
    const missed = toAll ? await sendToAll(text) : await sendEach(to, as, text);
    setIsBusy(false);
    if (missed.length === 0) onClose();
    else if (!toAll) setTo(missed); // what was refused stays to be tried again
  };
  const footer = html`
    <${Button} kind="primary" type="submit" icon="send" disabled=${!isReady}
      keyHint=${written("mod+Enter")}>${t(`messages.send_${as}`)}<//>`;
  return html`<${Dialog} title=${t("messages.new")} draft=${`to:${first}`} onClose=${onClose} onSubmit=${send}
    footer=${footer}>
    <${Select} label=${t("messages.as")} value=${as} onInput=${(event) => setAs(event.currentTarget.value)}
      options=${["message", "task"].map((value) => ({ value, label: t(`messages.as_${value}`) }))} />
    <${Recipients} chosen=${to} onChange=${setTo} everyone=${toAll} onEveryone=${setEveryone}
      mayAll=${as === "message"} agents=${shown.value.agents} />
    <${TextArea} label=${t("messages.text")} rows="4" required value=${text}
      onInput=${(event) => setText(event.currentTarget.value)} />
  <//>`;
}

/** @returns {Promise<string[]>} those to whom it could not be sent */
async function sendEach(names, as, text) {
  const missed = [];
  let last = null;
  for (const to of names) {
    const answer = await act(as === "task" ? "createTask" : "send", { to, text });
    if (answer === null) missed.push(to);
    else last = answer;
  }
  const told = names.filter((name) => !missed.includes(name));
  if (told.length > 0) toast(t(`messages.sent_${as}`, { names: list(told) }));
  if (last?.message && names.length === 1) go("messages", { thread: last.message.id });
  return missed;
}

async function sendToAll(text) {
  const answer = await act("broadcast", { text });
  if (answer === null) return [""];
  toast(t("messages.sent_all", { count: answer.recipients.length }));
  go("messages", { thread: answer.message.id });
  return [];
}

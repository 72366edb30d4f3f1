// Saying something about a task to whoever has it, at the foot of the inspector.

import { html, useRef, useState } from "../../vendor/ui.js";
import { act } from "../../hub/actions.js";
import { could, moment } from "../../model/moment.js";
import { toast } from "../../ui/toasts.js";
import { IconButton } from "../../ui/button.js";
import { useDraft } from "../../ui/draft.js";
import { t } from "../../words.js";
import { refOf } from "../task/names.js";
import { onCommandEnter } from "../../ui/key.js";

/** @param {{task: object}} props */
export function Reply({ task }) {
  const [text, setText] = useState("");
  const form = useRef(null);
  useDraft(form, `task:${task.id}`);
  const [busy, setBusy] = useState(false);
  if (!could.value.write) return null;
  const whom = task.assignee ?? (task.sender === "hub" ? null : task.sender);
  const label = whom ? t("inspector.message_to", { name: whom }) : t("inspector.note_on");
  const send = async () => {
    if (!text.trim() || busy) return;
    setBusy(true);
    const answer = await act("comment", { task: task.id, text: text.trim() });
    setBusy(false);
    if (!answer) return;
    setText("");
    toast(answer.message ? t("inspector.answer_done", { ref: refOf(task), to: "" }) : t("inspector.noted"));
  };
  return html`
    <form class="inspector-reply" ref=${form} onSubmit=${(event) => (event.preventDefault(), send())}>
      <textarea class="input" rows="1" aria-label=${label} placeholder=${label} value=${text} maxlength="50000"
        disabled=${Boolean(moment.value)} onInput=${(event) => setText(event.currentTarget.value)}
        onKeyDown=${onCommandEnter}></textarea>
      <${IconButton} type="submit" icon="corner-down-left" label=${t("inspector.send")}
        disabled=${Boolean(moment.value) || busy || !text.trim()} />
    </form>`;
}

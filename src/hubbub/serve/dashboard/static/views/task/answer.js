// Saying something to whoever works on a task; and, if it is blocked, that it may go on.

import { html, useState } from "../../vendor/ui.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { Checkbox, TextArea } from "../../ui/field.js";
import { written } from "../../ui/key.js";
import { Text } from "../../ui/text.js";
import { t } from "../../words.js";
import { refOf } from "./names.js";

/** @param {{task: object, onSay: (said: {text: string, goOn: boolean}) => void, onClose: () => void}} props */
export function Answer({ task, onSay, onClose }) {
  const blocked = task.may.includes("unblock");
  const [text, setText] = useState("");
  const [goOn, setGoOn] = useState(blocked);
  const ready = text.trim() !== "";
  const submit = () => ready && onSay({ text: text.trim(), goOn });
  const footer = html`
    <${Button} kind="primary" type="submit" disabled=${!ready} keyHint=${written("mod+Enter")}>
      ${t("inspector.answer")}<//>`;
  return html`
    <${Dialog} title=${t("inspector.answer_title", { ref: refOf(task) })} onClose=${onClose} onSubmit=${submit}
      footer=${footer}>
      <p class="strong"><${Text} value=${task.title} lines=${2} /></p>
      ${task.note && html`<blockquote class="said"><bdi class="faint small">${task.assignee}</bdi>
        <${Text} value=${task.note} lines=${6} /></blockquote>`}
      <${TextArea} label=${t("inspector.answer_label")} value=${text} rows="4" required
        onInput=${(event) => setText(event.currentTarget.value)} />
      ${blocked && html`<${Checkbox} label=${t("inspector.go_on")} checked=${goOn}
        onChange=${(event) => setGoOn(event.currentTarget.checked)} />`}
    <//>`;
}

// The place to answer, below a conversation. What is sent stands in the conversation at once.

import { html, useRef, useState } from "../../vendor/ui.js";
import { act } from "../../hub/actions.js";
import { Button } from "../../ui/button.js";
import { useDraft } from "../../ui/draft.js";
import { TextArea } from "../../ui/field.js";
import { onCommandEnter, written } from "../../ui/key.js";
import { t } from "../../words.js";

/** @param {{thread: string, messages: object[], disabled: boolean, onSent: (message: object) => void}} props */
export function Reply({ thread, messages, disabled, onSent }) {
  const form = useRef(null);
  useDraft(form, `thread:${thread}`);
  const [text, setText] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const last = messages.at(-1);
  const isReady = text.trim() !== "" && !isBusy && !disabled && last !== undefined;
  const send = async (event) => {
    event?.preventDefault();
    if (!isReady) return;
    const said = text;
    setIsBusy(true);
    setText("");
    const answer = await act("send", { text: said, in_reply_to: last.id });
    setIsBusy(false);
    if (answer) onSent(answer.message);
    else setText(said); // refused, as the sentence says: nothing that was typed is lost
  };
  return html`<form class="reply" ref=${form} onSubmit=${send}>
    <${TextArea} label=${t("messages.reply")} rows="2" value=${text} disabled=${disabled}
      onKeyDown=${onCommandEnter} onInput=${(event) => setText(event.currentTarget.value)} />
    <${Button} kind="primary" type="submit" icon="send" disabled=${!isReady}
      keyHint=${written("mod+Enter")}>${t("messages.send_reply")}<//>
  </form>`;
}

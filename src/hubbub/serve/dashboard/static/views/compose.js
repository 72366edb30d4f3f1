// Writing something new: to one agent, to several, or to everyone who is there; as a message or as a task.

import { html, useId, useState } from "../vendor/ui.js";
import { shown } from "../model/store.js";
import { act } from "../hub/actions.js";
import { list, t } from "../i18n.js";
import { go } from "../shell/router.js";
import { Button, Icon } from "../ui/controls.js";
import { Dialog } from "../ui/dialog.js";
import { Checkbox, Select, TextArea, useInvalid, written } from "../ui/form.js";
import { toast } from "../ui/overlays.js";
import { makeTask } from "./task/making.js";

// Whom something is for: names one by one, each checked against those the project knows, or everyone.

/**
 * @param {object} props
 * @param {string[]} props.chosen @param {(names: string[]) => void} props.onChange
 * @param {boolean} props.everyone @param {(yes: boolean) => void} props.onEveryone @param {boolean} props.mayAll
 * @param {Map<string, object>} props.agents
 */
function Recipients({ chosen, onChange, everyone, onEveryone, mayAll, agents }) {
  const [typed, setTyped] = useState("");
  const id = useId();
  const add = (name) => {
    const found = agents.has(name) ? name : only(name, agents);
    if (!found) return false;
    if (!chosen.includes(found)) onChange([...chosen, found]);
    setTyped("");
    return true;
  };
  const onInput = ({ currentTarget: { value } }) => {
    // A name that was picked from the list is whole; one that is being typed may go on.
    if (!(agents.has(value) && !longer(value, agents)) || !add(value)) setTyped(value);
  };
  const onKeyDown = (event) => {
    const done = event.key === "Enter" || event.key === ",";
    if (done && typed.trim() && add(typed.trim())) event.preventDefault();
    else if (done && typed.trim()) event.preventDefault();
    else if (event.key === "Backspace" && typed === "") onChange(chosen.slice(0, -1));
  };
  const [missing, heard] = useInvalid();
  const isUnknown = typed.trim() !== "" && !matching(typed.trim(), agents).length;
  const wrong = isUnknown ? t("messages.nobody", { name: typed.trim() }) : missing;
  return html`<div class="field recipients" ...${heard}>
    <label for=${id}>${t("messages.to")}</label>
    ${chosen.length > 0 && !everyone && html`<ul class="row wrap">${chosen.map((name) => html`<li key=${name}>
      <button type="button" class="chip" onClick=${() => onChange(chosen.filter((each) => each !== name))}
        aria-label=${`${name}, ${t("messages.take_out")}`}><bdi class="clip">${name}</bdi><${Icon} name="x"
          size=${12} /></button>
    </li>`)}</ul>`}
    <input class="input" type="text" id=${id} list=${`${id}-names`} autocomplete="off" disabled=${everyone}
      value=${typed} placeholder=${t("messages.to_hint")} onInput=${onInput} onKeyDown=${onKeyDown}
      onBlur=${() => typed.trim() && add(typed.trim())} required=${chosen.length === 0}
      aria-describedby=${wrong ? `${id}-error` : undefined} aria-invalid=${wrong ? "true" : undefined} />
    <datalist id=${`${id}-names`}>${[...agents.keys()].filter((name) => !chosen.includes(name))
      .map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
    ${wrong && html`<div class="error" id=${`${id}-error`}>${wrong}</div>`}
    ${mayAll && html`<${Checkbox} label=${t("messages.everyone")} checked=${everyone}
      onChange=${(event) => onEveryone(event.currentTarget.checked)} />`}
  </div>`;
}

const matching = (typed, agents) =>
  [...agents.keys()].filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()));

/** The one name that begins so. */
const only = (typed, agents) => {
  const found = matching(typed, agents);
  return found.length === 1 || found[0]?.toLowerCase() === typed.toLowerCase() ? found[0] : null;
};

const longer = (name, agents) => matching(name, agents).length > 1;

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
    <${Recipients} chosen=${to} onChange=${setTo} everyone=${toAll} onEveryone=${setEveryone}
      mayAll=${as === "message"} agents=${shown.value.agents} />
    <${TextArea} label=${t("messages.text")} rows="4" required value=${text} autofocus=${first.length > 0}
      onInput=${(event) => setText(event.currentTarget.value)} />
    <${Select} label=${t("messages.as")} value=${as} onInput=${(event) => setAs(event.currentTarget.value)}
      options=${["message", "task"].map((value) => ({ value, label: t(`messages.as_${value}`) }))} />
  <//>`;
}

/** @returns {Promise<string[]>} those to whom it could not be sent */
async function sendEach(names, as, text) {
  const missed = [];
  let last = null;
  for (const to of names) {
    const answer = await (as === "task" ? makeTask({ to, text }) : act("send", { to, text }));
    if (answer === null) missed.push(to);
    else last = answer;
  }
  const told = names.filter((name) => !missed.includes(name));
  if (told.length > 0) toast(t(`messages.sent_${as}`, { names: list(told) }));
  if (last?.message && names.length === 1) go("messages", { thread: last.message.id });
  return missed;
}

async function sendToAll(text) {
  const answer = await act("broadcast", { text, kind: "message" });
  if (answer === null) return [""];
  toast(t("messages.sent_all", { count: answer.recipients.length }));
  go("messages", { thread: answer.message.id });
  return [];
}

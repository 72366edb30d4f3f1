// Whom something is for: names one by one, each checked against those the project knows, or everyone.

import { html, useId, useState } from "../../vendor/ui.js";
import { Checkbox } from "../../ui/field.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";

/**
 * @param {object} props
 * @param {string[]} props.chosen @param {(names: string[]) => void} props.onChange
 * @param {boolean} props.everyone @param {(yes: boolean) => void} props.onEveryone @param {boolean} props.mayAll
 * @param {Map<string, object>} props.agents
 */
export function Recipients({ chosen, onChange, everyone, onEveryone, mayAll, agents }) {
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
  const isUnknown = typed.trim() !== "" && !matching(typed.trim(), agents).length;
  return html`<div class="field recipients">
    <label for=${id}>${t("messages.to")}</label>
    ${chosen.length > 0 && !everyone && html`<ul class="row wrap">${chosen.map((name) => html`<li key=${name}>
      <button type="button" class="chip" onClick=${() => onChange(chosen.filter((each) => each !== name))}
        aria-label=${`${name}, ${t("messages.take_out")}`}><bdi class="clip">${name}</bdi><${Icon} name="x"
          size=${12} /></button>
    </li>`)}</ul>`}
    <input class="input" type="text" id=${id} list=${`${id}-names`} autocomplete="off" disabled=${everyone}
      value=${typed} placeholder=${t("messages.to_hint")} onInput=${onInput} onKeyDown=${onKeyDown}
      onBlur=${() => typed.trim() && add(typed.trim())} aria-describedby=${isUnknown ? `${id}-error` : undefined}
      aria-invalid=${isUnknown ? "true" : undefined} />
    <datalist id=${`${id}-names`}>${[...agents.keys()].filter((name) => !chosen.includes(name))
      .map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
    ${isUnknown && html`<div class="error" id=${`${id}-error`}>${t("messages.nobody", { name: typed.trim() })}</div>`}
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

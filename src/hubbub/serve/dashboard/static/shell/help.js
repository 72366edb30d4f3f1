// What the keys do: made from the keys that act at this moment.

import { html } from "../vendor/ui.js";
import { t } from "../i18n.js";
import { known, letters, switchLetters } from "./keyboard.js";
import { Dialog } from "../ui/dialog.js";
import { Checkbox, written } from "../ui/form.js";

const GROUPS = ["go", "find", "move", "act", "time"];

/** @param {{onClose: () => void}} props */
export function Help({ onClose }) {
  return html`<${Dialog} wide title=${t("keys.title")} onClose=${onClose}>
    <div class="help">${GROUPS.map((group) => html`<${Group} key=${group} group=${group} />`)}</div>
    <${Checkbox} label=${t("shell.letters")} checked=${letters.value}
      onChange=${(event) => switchLetters(event.currentTarget.checked)} />
  <//>`;
}

/** One sentence for each thing that can be done, with all its keys. */
function Group({ group }) {
  const byWord = new Map();
  for (const { key, word } of known.value.filter((one) => one.group === group)) {
    byWord.set(word, new Set([...(byWord.get(word) ?? []), key]));
  }
  if (!byWord.size) return null;
  return html`<section>
    <h3>${t(`keys.group_${group}`)}</h3>
    <dl>${[...byWord].map(([word, keys]) => html`<div key=${word}>
      <dt>${t(word)}</dt>
      <dd>${[...keys].map((key) => html`<kbd key=${key}>${written(key)}</kbd>`)}</dd>
    </div>`)}</dl>
  </section>`;
}

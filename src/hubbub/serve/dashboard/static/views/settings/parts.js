// What the tabs of the settings are made of, and secrets that are told once.

import { html, useState } from "../../vendor/ui.js";
import { role } from "../../model/store.js";
import { t } from "../../i18n.js";
import { Button } from "../../ui/controls.js";
import { Dialog } from "../../ui/dialog.js";
import { CopyButton } from "../../ui/empty.js";
import { openDialog } from "../../ui/overlays.js";

// What the tabs of the settings are made of.

/** A part of a tab, with its heading and its action beside that. */
export function Part({ title, text, action, children }) {
  return html`<section class="panel part-panel">
    <div class="row wrap"><h2 class="section-title grow">${title}</h2>${action}</div>
    ${text && html`<p class="small muted">${text}</p>`}
    ${children}
  </section>`;
}

/** Why somebody sees less here than others. */
export function OnlyFor({ whom }) {
  return html`<p class="small muted only-for">${t(`settings.only_${whom}`)}</p>`;
}

/** The values of a form, and what binds a field to one of them. @param {Record<string, string>} first */
export function useForm(first) {
  const [given, setGiven] = useState(first);
  const change = (key) => (event) => setGiven((before) => ({ ...before, [key]: event.target.value }));
  const bind = (key) => ({ name: key, value: given[key], onInput: change(key) });
  return { given, bind };
}

/** A table of the settings: headings, rows, and a key for each row. */
export function Rows({ label, headings, rows, children }) {
  const unseen = html`<span class="sr">${t("settings.actions")}</span>`;
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${label}><table class="table">
    <thead><tr>${headings.map((heading) => html`<th key=${heading}>${heading || unseen}</th>`)}</tr></thead>
    <tbody>${rows.map(children)}</tbody>
  </table></div>`;
}

const RANKS = ["viewer", "member", "admin", "owner"];

/** Whether who looks may give that role, or take it: nobody gives more than they have. */
export const mayGive = (given) => RANKS.indexOf(given) <= RANKS.indexOf(role.value);

/** The roles that can be given, in the words of people. */
export const roles = (given = RANKS) =>
  given.filter(mayGive).map((value) => ({ value, label: t(`shell.role_${value}`) }));

// A secret that is told only now: it is in nothing that is kept, not even here once the dialog is closed.

/** The text with a button that copies it. */
export function Once({ text, said }) {
  return html`<div class="once">
    <p>${said}</p>
    <div class="once-text"><code tabindex="0">${text}</code><${CopyButton} text=${text} /></div>
    <p class="small once-warning">${t("settings.once")}</p>
  </div>`;
}

/** Show a secret in a dialog of its own. */
export function showOnce(title, said, text) {
  return openDialog((close) => html`<${Dialog} title=${title} onClose=${close}
    footer=${html`<${Button} kind="primary" onClick=${close}>${t("settings.kept")}<//>`}>
    <${Once} text=${text} said=${said} /><//>`);
}

// Where nothing is yet: what belongs here, and the one command that fills it.

import { html, useState } from "../vendor/ui.js";
import { t } from "../i18n.js";
import { Icon, IconButton } from "./controls.js";
import { toast } from "./overlays.js";

/** @param {{icon: string, title: string, text?: any, command?: string, children?: any}} props */
export function Empty({ icon, title, text, command, children }) {
  return html`<div class="empty">
    <${Icon} name=${icon} size=${28} />
    <h2>${title}</h2>
    ${text && html`<p>${text}</p>`}
    ${command && html`<${Command} text=${command} />`}
    ${children}
  </div>`;
}

/** A command to run, whose options stay whole, with a button that copies it. @param {{text: string}} props */
export function Command({ text }) {
  const words = text.split(/(--\S+)/).map((part, at) => (at % 2 ? html`<span class="nowrap">${part}</span>` : part));
  return html`<div class="command"><code>${words}</code><${CopyButton} text=${text} /></div>`;
}

/** @param {{text: string, label?: string, icon?: string}} props */
export function CopyButton({ text, label, icon = "copy" }) {
  const [copied, setCopied] = useState(false);
  const copy = async (event) => {
    const done = await toClipboard(text, event.currentTarget.parentElement);
    setCopied(done);
    if (!done) toast(t("empty.not_copied"), { kind: "error" });
  };
  return html`<${IconButton} kind="quiet" small icon=${copied ? "check" : icon} onClick=${copy}
    label=${copied ? t("empty.copied") : label ?? t("empty.copy")} />`;
}

/** Browsers give pages that came by plain http no clipboard: there the text is selected and copied, the old way. */
async function toClipboard(text, near) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(() => true, () => false);
  }
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
  near.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

/** Grey lines where a text is on its way. @param {{lines?: number}} props */
export function Skeleton({ lines = 3 }) {
  return html`<div class="skeleton" aria-hidden="true">${Array.from({ length: lines }, () => html`<i></i>`)}</div>`;
}

// Where nothing is yet: what belongs here, and the one command that fills it.
import { html, useState } from "../vendor/ui.js";
import { t } from "../words.js";
import { IconButton } from "./button.js";
import { Icon } from "./icon.js";

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

/** A command to run, with a button that copies it. @param {{text: string}} props */
export function Command({ text }) {
  return html`<div class="command"><code>${text}</code><${CopyButton} text=${text} /></div>`;
}

/** @param {{text: string, label?: string}} props */
export function CopyButton({ text, label }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return html`<${IconButton} kind="quiet" small icon=${copied ? "check" : "copy"} onClick=${copy}
    label=${copied ? t("empty.copied") : label ?? t("empty.copy")} />`;
}

/** Grey lines where a text is on its way. @param {{lines?: number}} props */
export function Skeleton({ lines = 3 }) {
  return html`<div class="skeleton" aria-hidden="true">${Array.from({ length: lines }, () => html`<i></i>`)}</div>`;
}

// A secret that is told only now: it is in nothing that is kept, not even here once the dialog is closed.
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { openDialog } from "../../ui/dialogs.js";
import { CopyButton } from "../../ui/empty.js";

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

// How somebody whose hub runs elsewhere reaches it from their own machine: its address, and a token of theirs.

import { html, useState } from "../vendor/ui.js";
import { me, moment, project } from "../model/store.js";
import { t } from "../i18n.js";
import { Button } from "../ui/controls.js";
import { Command } from "../ui/empty.js";
import { done } from "./fetching.js";

const PLACEHOLDER = "utok_…";

export function OwnTerminal() {
  const [token, setToken] = useState(PLACEHOLDER);
  const make = async () => {
    const made = await done("makeToken", { user: me.value.user });
    if (made) setToken(made.secret);
  };
  const isMade = token !== PLACEHOLDER;
  const place = `HUBBUB_URL=${location.origin} HUBBUB_TOKEN=${token} HUBBUB_PROJECT=${project.value}`;
  return html`<section class="stack own-terminal" aria-label=${t("steps.terminal")}>
    <span class="strong">${t("steps.terminal")}</span>
    <span class="muted small">${t("steps.terminal_how")}${" "}
      <a class="link" href="/docs/how-to/a-team-on-one-hub#4-their-machines">${t("steps.terminal_more")}</a></span>
    <${Command} text=${`export ${place}`} />
    ${isMade ? html`<span class="small muted" role="status">${t("steps.terminal_once")}</span>`
      : html`<div><${Button} icon="key-round" disabled=${Boolean(moment.value)} onClick=${make}>
        ${t("steps.terminal_token")}<//></div>`}
  </section>`;
}

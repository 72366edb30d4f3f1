// Accounts above the machines: who shares each, and until when a paused one begins nothing.

import { html } from "../vendor/ui.js";
import { act } from "../hub/actions.js";
import { may } from "../model/store.js";
import { t } from "../i18n.js";
import { Button, Icon } from "../ui/controls.js";
import { Until } from "../ui/text.js";

const isPaused = (account) => account.paused_at !== null;

/** The paused ones first, then by name. */
const byPause = (one, other) =>
  Number(isPaused(other)) - Number(isPaused(one)) || (one.name < other.name ? -1 : 1);

/** @param {{picture: import("../model/fold.js").Picture}} props */
export function Accounts({ picture }) {
  if (picture.accounts.size === 0) return null;
  const agents = [...picture.agents.values()];
  return html`<section class="accounts small" aria-label=${t("fleet.accounts")}>
    <ul>${[...picture.accounts.values()].sort(byPause).map((account) => html`<${Account} key=${account.name}
      account=${account} shared=${agents.filter((agent) => agent.account === account.name)} />`)}</ul>
  </section>`;
}

function Account({ account, shared }) {
  const { name, paused_until: until, limit_kind: kind, paused_by: by } = account;
  const paused = isPaused(account);
  const why = kind ? t(`why.limit_${kind}`) : t("why.limit_none", { by });
  return html`<li class="row-tight" data-paused=${paused}>
    <${Icon} name=${paused ? "pause" : "key-round"} size=${13} />
    <bdi class="strong">${name}</bdi>
    <span class="faint clip">${shared.map((agent) => agent.name).join(", ")}</span>
    ${paused && html`<span class="amber" title=${why}>${t(until ? "fleet.paused_for" : "fleet.paused")}
      ${until && html` <${Until} at=${until} />`}</span>`}
    ${may.value.write && html`<${Button} small onClick=${() =>
      act(paused ? "resumeAccount" : "pauseAccount", { account: name })}>
      ${t(paused ? "fleet.resume" : "fleet.pause")}<//>`}
  </li>`;
}

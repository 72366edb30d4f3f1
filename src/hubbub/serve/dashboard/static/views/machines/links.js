// Links by which anyone who has one may look at one machine: made, told once, and taken back.
import { html, useState } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { read } from "../../hub/reads.js";
import { could, may } from "../../model/moment.js";
import { Ago, Until } from "../../ui/ago.js";
import { confirm } from "../../shell/asked.js";
import { Button } from "../../ui/button.js";
import { Empty } from "../../ui/empty.js";
import { Select } from "../../ui/field.js";
import { done, existed, Fetched, useFetched } from "../fetched.js";
import { showOnce } from "../settings/once.js";
import { lasting } from "./invite.js";

async function revoke(share) {
  const isSure = await confirm({
    title: t("machines.link_revoke_title"), text: t("machines.link_revoke_text"),
    action: t("machines.link_revoke"), danger: true,
  });
  if (isSure) await done("unshare", { share: share.id }, t("machines.link_revoked"));
}

function Make({ machine }) {
  const options = lasting();
  const [seconds, setSeconds] = useState(options[0].value);
  const make = async () => {
    const made = await done("share", { node: machine.name, expires_in_seconds: Number(seconds) });
    if (made) showOnce(t("machines.link_made"), t("machines.link_text"), made.url);
  };
  return html`<div class="row wrap bottom">
    <${Select} label=${t("machines.lasts")} value=${seconds} options=${options}
      onInput=${(event) => setSeconds(event.target.value)} />
    <${Button} icon="link" disabled=${!may.value.write} onClick=${make}>${t("machines.link_make")}<//>
  </div>`;
}

export function Links({ machine }) {
  const shares = useFetched(() => read.shares(), [], ["share."]);
  return html`<div class="stack">
    ${could.value.write && html`<${Make} machine=${machine} />`}
    <${Fetched} of=${shares}>${(found) => {
      const rows = existed(found.shares).filter((share) => share.machine === machine.name);
      if (!rows.length) return html`<${Empty} icon="link" title=${t("machines.no_links")}
        text=${t("machines.no_links_text")} />`;
      return html`<ul class="lines">${rows.map((share) => html`<${Link} key=${share.id} share=${share} />`)}</ul>`;
    }}<//>
  </div>`;
}

function Link({ share }) {
  return html`<li class="row">
    <span class="grow small">
      ${t("machines.link_by", { name: share.created_by })} <${Ago} at=${share.created_at} />${" · "}
      ${t("machines.good_until")} <${Until} at=${share.expires_at} /></span>
    ${could.value.write && html`<${Button} small kind="danger" disabled=${!may.value.write}
      onClick=${() => revoke(share)}>${t("machines.link_revoke")}<//>`}
  </li>`;
}

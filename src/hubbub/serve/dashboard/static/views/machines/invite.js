// Inviting a machine: a code that is told once, with the command that uses it.
import { html, useState } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { Field, Select } from "../../ui/field.js";
import { Until } from "../../ui/ago.js";
import { Once } from "../settings/once.js";
import { done } from "../fetched.js";

const HOUR = 3600;

/** For how long a code or a link may be good. */
export const lasting = () => [
  { value: String(HOUR), label: t("machines.hour") },
  { value: String(24 * HOUR), label: t("machines.day") },
  { value: String(7 * 24 * HOUR), label: t("machines.week") },
];

export function Invite({ onClose }) {
  const [name, setName] = useState("");
  const [seconds, setSeconds] = useState(String(HOUR));
  const [made, setMade] = useState(null);
  const invite = async () => {
    const body = { expires_in_seconds: Number(seconds), ...(name.trim() && { name: name.trim() }) };
    setMade(await done("inviteMachine", body));
  };
  if (made) {
    return html`<${Dialog} title=${t("machines.invited")} onClose=${onClose}
      footer=${html`<${Button} kind="primary" onClick=${onClose}>${t("machines.copied")}<//>`}>
      <${Once} text=${`hubbub node run --join ${made.code}`} said=${t("machines.invited_text")} />
      <p class="small muted">${t("machines.good_until")} <${Until} at=${made.expires_at} /></p>
    <//>`;
  }
  return html`<${Dialog} title=${t("machines.invite")} onClose=${onClose} onSubmit=${invite}
    footer=${html`<${Button} kind="primary" type="submit">${t("machines.make_code")}<//>`}>
    <div class="stack">
      <p>${t("machines.invite_text")}</p>
      <${Field} label=${t("machines.name")} hint=${t("machines.name_hint")} name="name" value=${name}
        onInput=${(event) => setName(event.target.value)} />
      <${Select} label=${t("machines.lasts")} name="lasts" value=${seconds} options=${lasting()}
        onInput=${(event) => setSeconds(event.target.value)} />
    </div>
  <//>`;
}

// Tokens: what agents and programs sign in with. A secret is told once, when it is made.
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { read } from "../../hub/reads.js";
import { could, may, me, now } from "../../model/moment.js";
import { Ago } from "../../ui/ago.js";
import { confirm } from "../../shell/asked.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { openDialog } from "../../ui/dialogs.js";
import { Empty } from "../../ui/empty.js";
import { Field, Select } from "../../ui/field.js";
import { done, existed, Fetched, useFetched } from "../fetched.js";
import { showOnce } from "./once.js";
import { Part, roles, Rows, useForm } from "./parts.js";

const DAY = 24 * 3600;
const GIVEN = ["member", "viewer", "admin"];

/** Make one; the dialog that asks gives way to the one that tells. */
export function MakeToken({ onClose, onMade }) {
  const { given, bind } = useForm({ agent: "", role: "member", lasts: "" });
  const make = async () => {
    const values = { role: given.role };
    if (given.agent.trim()) values.agent = given.agent.trim();
    if (given.lasts) values.expires_seconds = Number(given.lasts) * DAY;
    const made = await done("makeToken", values);
    if (!made) return;
    onClose();
    onMade?.(made);
    showOnce(t("settings.token_made"), t("settings.token_made_text"), made.secret);
  };
  const lasting = [["", "forever"], ["1", "day"], ["30", "month"], ["365", "year"]];
  return html`<${Dialog} title=${t("settings.token_make")} onClose=${onClose} onSubmit=${make}
    footer=${html`<${Button} kind="primary" type="submit">${t("settings.token_make")}<//>`}>
    <div class="stack">
      <${Field} label=${t("settings.token_agent")} hint=${t("settings.token_agent_hint")} ...${bind("agent")} />
      <${Select} label=${t("settings.role")} options=${roles(GIVEN)} ...${bind("role")} />
      <${Select} label=${t("settings.lasts")} ...${bind("lasts")}
        options=${lasting.map(([value, word]) => ({ value, label: t(`settings.lasts_${word}`) }))} />
    </div><//>`;
}

async function revoke(token) {
  const title = t("settings.token_revoke_title", { name: token.agent ?? t("settings.token_unbound") });
  const text = t("settings.token_revoke_text");
  const isSure = await confirm({ title, text, action: t("settings.token_revoke"), danger: true });
  if (isSure) await done("revokeToken", { token: token.id }, t("settings.token_gone"));
}

/** Good, expired or revoked, in a word. */
function fate(token) {
  if (token.revoked_at) return ["revoked", token.revoked_at];
  if (token.expires_at && token.expires_at <= now.value) return ["expired", token.expires_at];
  return ["good", null];
}

function Token({ token, people }) {
  const [word, at] = fate(token);
  const person = !token.project_id && (people.get(token.user_id) ?? t("settings.token_person"));
  const whose = token.agent ?? (person || t("settings.token_unbound"));
  return html`<tr class=${word === "good" ? "" : "is-over"}>
    <td class="clip"><bdi>${whose}</bdi></td>
    <td>${token.role ? t(`shell.role_${token.role}`) : ""}${token.rate && html`
      <span class="small muted">${t("settings.token_rate", { count: token.rate })}</span>`}</td>
    <td><${Ago} at=${token.created_at} /></td>
    <td>${t(`settings.token_${word}`)} ${at && html`<${Ago} at=${at} />`}</td>
    <td>${word === "good" && could.value.write && html`<${Button} small kind="danger" disabled=${!may.value.write}
      onClick=${() => revoke(token)}>${t("settings.token_revoke")}<//>`}</td>
  </tr>`;
}

/** The names of people, for the owner of the hub, who sees their tokens too. */
function usePeople() {
  const isOwner = Boolean(me.value?.owns_hub);
  const found = useFetched(async () => (isOwner ? read.users() : { users: [] }), [isOwner], ["user."]);
  return new Map((found.value?.users ?? []).map(({ id, name }) => [id, name]));
}

const goodAndNewFirst = (one, other) =>
  Boolean(one.revoked_at) - Boolean(other.revoked_at) || other.created_at - one.created_at;

export function Tokens() {
  const people = usePeople();
  const tokens = useFetched(() => read.tokens(), [], ["token."]);
  const make = () => openDialog((close) => html`<${MakeToken} onClose=${close} />`);
  const action = could.value.write && html`<${Button} icon="plus" kind="primary" disabled=${!may.value.write}
    onClick=${make}>${t("settings.token_make")}<//>`;
  const headings = ["token_whose", "role", "made", "token_is"].map((key) => t(`settings.${key}`));
  return html`<${Part} title=${t("settings.tab_tokens")} text=${t("settings.tokens_text")} action=${action}>
    <${Fetched} of=${tokens}>${(found) => {
      const rows = existed(found.tokens).sort(goodAndNewFirst);
      if (!rows.length) return html`<${Empty} icon="key-round" title=${t("settings.no_tokens")}
        text=${t("settings.tokens_text")} command="hubbub token create --agent ember" />`;
      return html`<${Rows} label=${t("settings.tab_tokens")} headings=${[...headings, ""]} rows=${rows}>
        ${(token) => html`<${Token} key=${token.id} token=${token} people=${people} />`}<//>`;
    }}<//>
  <//>`;
}

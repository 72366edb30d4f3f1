// Who may do what: the people of the project, codes that let somebody in, logins, and tokens.

import { html } from "../../vendor/ui.js";
import { could, may, me, now, project } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { signOutEverywhere } from "../../shell/account.js";
import { confirm } from "../../shell/dialogs.js";
import { Button } from "../../ui/controls.js";
import { Dialog } from "../../ui/dialog.js";
import { Empty } from "../../ui/empty.js";
import { Field, Select } from "../../ui/form.js";
import { openDialog, toast } from "../../ui/overlays.js";
import { Ago } from "../../ui/text.js";
import { done, existed, Fetched, useFetched } from "../fetching.js";
import { mayGive, OnlyFor, Part, roles, Rows, showOnce, useForm } from "./parts.js";

// People: who belongs to the project and as what, codes that let somebody in, and where one is signed in.

const GIVEN_ROLES = ["viewer", "member", "admin"];

function Invite({ onClose }) {
  const { given, bind } = useForm({ role: "member" });
  const invite = async () => {
    const made = await done("inviteUser", { role: given.role });
    if (!made) return;
    onClose();
    showOnce(t("settings.invited"), t("settings.invited_text", { url: location.origin }), made.url);
  };
  return html`<${Dialog} title=${t("settings.invite")} onClose=${onClose} onSubmit=${invite}
    footer=${html`<${Button} kind="primary" type="submit">${t("settings.invite_make")}<//>`}>
    <${Select} label=${t("settings.role")} hint=${t("settings.role_hint")} options=${roles(GIVEN_ROLES)}
      ...${bind("role")} /><//>`;
}

function AddUser({ onClose }) {
  const { given, bind } = useForm({ name: "", role: "member" });
  const add = async () => {
    const made = await done("addUser", { name: given.name.trim(), role: given.role, project: project.value });
    if (!made) return;
    onClose();
    showOnce(t("settings.user_added", { name: made.user.name }), t("settings.user_added_text"), made.token);
  };
  return html`<${Dialog} title=${t("settings.user_add")} onClose=${onClose} onSubmit=${add}
    footer=${html`<${Button} kind="primary" type="submit">${t("settings.user_add")}<//>`}>
    <div class="stack"><${Field} label=${t("settings.user_name")} required ...${bind("name")} />
      <${Select} label=${t("settings.role")} hint=${t("settings.role_hint")} options=${roles(GIVEN_ROLES)}
        ...${bind("role")} /></div><//>`;
}

async function remove(name) {
  const isSure = await confirm({
    title: t("settings.member_remove_title", { name }), text: t("settings.member_remove_text"),
    action: t("settings.remove"), danger: true,
  });
  const values = { project: project.value, user: name };
  if (isSure) await done("removeMember", values, t("settings.member_removed", { name }));
}

/** @param {{member: object, isLast: boolean}} props `isLast`: the only owner, without whom the project cannot be */
function Member({ member, isLast }) {
  const mine = could.value.manage && mayGive(member.role);
  const tied = { disabled: isLast || !may.value.manage, title: isLast ? t("settings.last_owner") : undefined };
  return html`<tr>
    <td class="clip"><bdi>${member.name}</bdi></td>
    <td>${mine ? html`<${RoleOf} member=${member} tied=${tied} />` : t(`shell.role_${member.role}`)}</td>
    <td>${mine && html`<${Button} small kind="danger" ...${tied}
      onClick=${() => remove(member.name)}>${t("settings.remove")}<//>`}</td>
  </tr>`;
}

/** An arrow key changes a role at once, so what was there before comes back by a button. @param {() => void} [undo] */
async function giveRole(user, given, undo) {
  const answer = await done("putMember", { project: project.value, user, role: given });
  if (answer) toast(t("settings.role_changed", { name: user, role: t(`shell.role_${given}`) }), { undo });
  return answer;
}

function RoleOf({ member: { name, role }, tied }) {
  const choose = async ({ target }) => {
    if (!(await giveRole(name, target.value, () => giveRole(name, role)))) target.value = role;
  };
  return html`<select class="input" aria-label=${t("settings.role_of", { name })} value=${role}
    ...${tied} onChange=${choose}>
    ${roles().map(({ value, label }) => html`
      <option key=${value} value=${value} selected=${value === role}>${label}</option>`)}
  </select>`;
}

const ownersOf = (members) => members.filter(({ role }) => role === "owner").length;

function Members() {
  const members = useFetched(() => read.members(project.value), [], ["member.", "user."]);
  const open = (View) => () => openDialog((close) => html`<${View} onClose=${close} />`);
  const action = could.value.manage && html`<div class="row wrap">
    <${Button} icon="mail" disabled=${!may.value.manage} onClick=${open(Invite)}>${t("settings.invite")}<//>
    ${me.value?.owns_hub && html`<${Button} icon="user-plus" disabled=${!may.value.manage}
      onClick=${open(AddUser)}>${t("settings.user_add")}<//>`}</div>`;
  return html`<${Part} title=${t("settings.members")} text=${t("settings.members_text")} action=${action}>
    <${Fetched} of=${members}>${(found) => html`
      <${Rows} label=${t("settings.members")} rows=${found.members}
        headings=${[t("settings.user_name"), t("settings.role"), ""]}>
        ${(member) => html`<${Member} key=${member.name} member=${member}
          isLast=${member.role === "owner" && ownersOf(found.members) === 1} />`}<//>`}<//>
    ${!could.value.manage && html`<${OnlyFor} whom="managers" />`}<//>`;
}

/** What is found in what a browser calls itself; each calls itself by the names of those below it, too. */
const BROWSERS = [
  ["Edg/", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"],
];
const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"];

/** What a browser calls itself, in short: "Firefox, Linux"; as it is, where that tells nothing. */
function browserName(text) {
  const known = BROWSERS.find(([mark]) => text.includes(mark))?.[1];
  return [known, SYSTEMS.find((system) => text.includes(system))].filter(Boolean).join(", ") || text;
}

/** Where the one who looks is signed in. */
function Logins() {
  const logins = useFetched(() => read.logins(), [], ["login."]);
  const action = html`
    <${Button} kind="danger" icon="log-out" onClick=${signOutEverywhere}>${t("shell.sign_out_everywhere")}<//>`;
  const headings = ["browser", "signed_in", "used"].map((key) => t(`settings.${key}`));
  return html`<${Part} title=${t("settings.logins")} text=${t("settings.logins_text")} action=${action}>
    <${Fetched} of=${logins}>${(found) => html`
      <${Rows} label=${t("settings.logins")} headings=${headings} rows=${found.logins}>
        ${(login) => html`<${Login} key=${login.id} login=${login} />`}<//>`}<//>
  <//>`;
}

function Login({ login: { browser, current, created_at: since, seen_at: seen } }) {
  return html`<tr>
    <td class="clip"><bdi title=${browser}>${browserName(browser ?? "?")}</bdi>
      ${current && html` <span class="muted">${t("settings.current_login")}</span>`}</td>
    <td><${Ago} at=${since} /></td><td><${Ago} at=${seen} /></td>
  </tr>`;
}

export function People() {
  return html`<${Members} /><${Logins} />`;
}

// Tokens: what agents and programs sign in with. A secret is told once, when it is made.

const DAY = 24 * 3600;
const TOKEN_ROLES = ["member", "viewer", "admin"];

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
      <${Select} label=${t("settings.role")} options=${roles(TOKEN_ROLES)} ...${bind("role")} />
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

/** Their own, and those of a project that they manage; the owner of the hub all. */
function mayRevoke({ user_id: maker, project_id: place }) {
  const { user_id: user, owns_hub: isOwner } = me.value;
  return could.value.write && (isOwner || maker === user || Boolean(place && could.value.manage));
}

/** Good, expired or revoked, in a word. */
function fate(token) {
  if (token.revoked_at) return ["revoked", token.revoked_at];
  if (token.expires_at && token.expires_at <= now.value) return ["expired", token.expires_at];
  return ["good", null];
}

function Token({ token, people }) {
  const [word, at] = fate(token);
  const mine = token.user_id === me.value.user_id ? me.value.user : t("settings.token_person");
  const person = !token.project_id && (people.get(token.user_id) ?? mine);
  const whose = token.agent ?? (person || t("settings.token_unbound"));
  return html`<tr class=${word === "good" ? "" : "is-over"}>
    <td class="clip"><bdi>${whose}</bdi>${token.label && html`
      <span class="small muted"><bdi>${token.label}</bdi></span>`}</td>
    <td>${token.role ? t(`shell.role_${token.role}`) : ""}${token.rate && html`
      <span class="small muted">${t("settings.token_rate", { count: token.rate })}</span>`}</td>
    <td><${Ago} at=${token.created_at} /></td>
    <td>${t(`settings.token_${word}`)} ${at && html`<${Ago} at=${at} />`}</td>
    <td>${word === "good" && mayRevoke(token) && html`<${Button} small kind="danger" disabled=${!may.value.write}
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
  Number(Boolean(one.revoked_at)) - Number(Boolean(other.revoked_at)) || other.created_at - one.created_at;

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
        command="hubbub token create --agent ember" />`;
      return html`<${Rows} label=${t("settings.tab_tokens")} headings=${[...headings, ""]} rows=${rows}>
        ${(token) => html`<${Token} key=${token.id} token=${token} people=${people} />`}<//>
        ${could.value.write && !rows.every(mayRevoke) && html`<${OnlyFor} whom="makers" />`}`;
    }}<//>
  <//>`;
}

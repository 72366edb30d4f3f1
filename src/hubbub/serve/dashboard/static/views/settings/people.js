// People: who belongs to the project and as what, codes that let somebody in, and where one is signed in.
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { read } from "../../hub/reads.js";
import { could, may, me, project } from "../../model/moment.js";
import { Ago } from "../../ui/ago.js";
import { confirm } from "../../shell/asked.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { openDialog } from "../../ui/dialogs.js";
import { Field, Select } from "../../ui/field.js";
import { done, Fetched, useFetched } from "../fetched.js";
import { signOutEverywhere } from "../../shell/account.js";
import { showOnce } from "./once.js";
import { mayGive, OnlyFor, Part, roles, Rows, useForm } from "./parts.js";

const GIVEN = ["viewer", "member", "admin"];

function Invite({ onClose }) {
  const { given, bind } = useForm({ role: "member" });
  const invite = async () => {
    const made = await done("inviteUser", { role: given.role });
    if (!made) return;
    onClose();
    showOnce(t("settings.invited"), t("settings.invited_text"), made.code);
  };
  return html`<${Dialog} title=${t("settings.invite")} onClose=${onClose} onSubmit=${invite}
    footer=${html`<${Button} kind="primary" type="submit">${t("settings.invite_make")}<//>`}>
    <${Select} label=${t("settings.role")} hint=${t("settings.role_hint")} options=${roles(GIVEN)}
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
      <${Select} label=${t("settings.role")} hint=${t("settings.role_hint")} options=${roles(GIVEN)}
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

function Member({ member }) {
  const mine = could.value.manage && mayGive(member.role);
  return html`<tr>
    <td class="clip"><bdi>${member.name}</bdi></td>
    <td>${mine ? html`<${RoleOf} member=${member} />` : t(`shell.role_${member.role}`)}</td>
    <td>${mine && html`<${Button} small kind="danger" disabled=${!may.value.manage}
      onClick=${() => remove(member.name)}>${t("settings.remove")}<//>`}</td>
  </tr>`;
}

function RoleOf({ member: { name, role } }) {
  const choose = async ({ target }) => {
    const values = { project: project.value, user: name, role: target.value };
    if (!(await done("putMember", values, t("settings.role_changed", { name })))) target.value = role;
  };
  return html`<select class="input" aria-label=${t("settings.role_of", { name })} value=${role}
    disabled=${!may.value.manage} onChange=${choose}>
    ${roles().map(({ value, label }) => html`
      <option key=${value} value=${value} selected=${value === role}>${label}</option>`)}
  </select>`;
}

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
        ${(member) => html`<${Member} key=${member.name} member=${member} />`}<//>`}<//>
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

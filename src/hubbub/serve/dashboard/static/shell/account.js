// Who looks, as what, and what is theirs to set: the theme, the language, single letters, notifications, and the end
// of the login.

import { html, signal } from "../vendor/ui.js";
import { me, role } from "../model/store.js";
import { attempt } from "../hub/actions.js";
import { language, LANGUAGES, setLanguage, t } from "../i18n.js";
import { confirm, openHelp } from "./dialogs.js";
import { letters, switchLetters } from "./keyboard.js";
import { stopAhead } from "./lazy.js";
import { notifying, switchNotifying } from "./notifications.js";
import { Menu } from "../ui/controls.js";

// Dark, light, or as the system says: kept in a cookie, so that the hub can send the page in it at once.

const A_YEAR = 365 * 24 * 3600;

/** @typedef {"dark"|"light"|"system"} Theme */

/** @type {Theme[]} */
export const THEMES = ["dark", "light", "system"];

export const theme = signal(/** @type {Theme} */ (document.documentElement.dataset.theme || "system"));

/** @param {Theme} chosen */
export function setTheme(chosen) {
  theme.value = chosen;
  const system = chosen === "system";
  if (system) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  const value = system ? "; max-age=0" : `${chosen}; max-age=${A_YEAR}`;
  document.cookie = `hubbub_theme=${value}; path=/; SameSite=Lax`;
}

export function Account() {
  const name = me.value?.user ?? "";
  return html`<${Menu} bare icon="circle-user-round" label=${`${t("shell.account")}: ${name}`} items=${[
    { heading: html`<b>${name}</b> · ${t("shell.role_is", { role: t(`shell.role_${role.value}`) })}` },
    "-",
    { heading: t("shell.language") },
    ...Object.entries(LANGUAGES).map(([tag, called]) => ({
      label: html`<span lang=${tag}>${called}</span>`, radio: true, checked: language.value === tag,
      run: () => setLanguage(tag),
    })),
    "-",
    { label: t("shell.letters"), checked: letters.value, run: () => switchLetters(!letters.value) },
    { label: t("shell.notifications"), checked: notifying.value, run: () => switchNotifying(!notifying.value) },
    { label: t("shell.help"), icon: "keyboard", hint: "?", run: openHelp },
    { label: t("documents.title"), icon: "file-text", href: "/docs" },
    "-",
    { label: t("shell.sign_out"), icon: "log-out", run: signOut },
    { label: t("shell.sign_out_everywhere"), icon: "lock", danger: true, run: signOutEverywhere },
  ]} />`;
}

/** Ends this login, by the same form that works without scripts. */
export async function signOut() {
  await stopAhead();
  const form = Object.assign(document.createElement("form"), { method: "post", action: "/logout", hidden: true });
  form.append(Object.assign(document.createElement("input"), { name: "csrf", value: me.value.csrf }));
  document.body.append(form);
  form.submit();
}

/** Ends all logins of who looks, once they are sure. */
export async function signOutEverywhere() {
  const words = { title: t("shell.sign_out_everywhere"), text: t("shell.sign_out_everywhere_means") };
  if (!(await confirm({ ...words, action: words.title, danger: true }))) return;
  await stopAhead();
  await attempt("signOutEverywhere"); // in the past, too
  location.assign("/login");
}

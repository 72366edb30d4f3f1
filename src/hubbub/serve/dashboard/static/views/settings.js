// The settings: one tab for each thing that can be set, each with an address of its own.

import { html } from "../vendor/ui.js";
import { me } from "../model/store.js";
import { link, read } from "../hub/endpoints.js";
import { connection } from "../hub/stream.js";
import { fullTime, language, LANGUAGES, number, setLanguage, t } from "../i18n.js";
import { setTheme, theme, THEMES } from "../shell/account.js";
import { letters, switchLetters } from "../shell/keyboard.js";
import { LazyView } from "../shell/lazy.js";
import { notifying, switchNotifying } from "../shell/notifications.js";
import { route, set } from "../shell/router.js";
import { Button, Tabs } from "../ui/controls.js";
import { Command } from "../ui/empty.js";
import { Checkbox, Select } from "../ui/form.js";
import { Fetched, useFetched } from "./fetching.js";
import { People, Tokens } from "./settings/access.js";
import { Connect } from "./settings/connect.js";
import { OnlyFor, Part } from "./settings/parts.js";
import { Project } from "./settings/project.js";

// The log: how far back it goes, how long it is kept, and how to keep a copy of everything.

async function factsOfLog() {
  const [{ activity }, { log }] = await Promise.all([read.activity({ after: 0, limit: 1 }), read.status()]);
  return { oldest: activity[0], log };
}

function Log() {
  const fetched = useFetched(factsOfLog, []);
  return html`<${Part} title=${t("settings.tab_log")} text=${t("settings.log_text")}>
      <${Fetched} of=${fetched}>${({ oldest, log }) => html`<dl class="facts">
        <dt>${t("settings.log_first")}</dt><dd>${oldest ? fullTime(oldest.at) : t("settings.nothing")}</dd>
        <dt>${t("settings.log_last")}</dt><dd class="num">${number(connection.value.id)}</dd>
        <dt>${t("settings.log_size")}</dt><dd>${t("settings.log_events", { count: log.activities })}</dd>
        <dt>${t("settings.log_kept")}</dt><dd>${log.keep_days === null ? t("settings.log_forever")
          : t("settings.log_days", { count: log.keep_days })}</dd></dl>`}<//>
    <//>
    <${Part} title=${t("settings.retention")} text=${t("settings.retention_text")}>
      <${Command} text="HUBBUB_KEEP_LOG_DAYS=90 hubbub serve" /><//>
    <${Part} title=${t("settings.backup")} text=${t("settings.backup_text")}>
      <${Command} text="hubbub backup hubbub-copy.db" />
      ${me.value?.owns_hub ? html`<div>
        <${Button} icon="download" href=${link.backup()} download>${t("settings.backup_now")}<//></div>`
        : html`<${OnlyFor} whom="owner" />`}<//>`;
}

// Preferences: how this browser shows the dashboard. Nobody else sees a difference.

function Preferences() {
  const languages = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }));
  const themes = THEMES.map((value) => ({ value, label: t(`shell.theme_${value}`) }));
  return html`<${Part} title=${t("settings.tab_preferences")} text=${t("settings.preferences_text")}>
    <${Select} label=${t("shell.theme")} value=${theme.value} options=${themes}
      onInput=${(event) => setTheme(event.target.value)} />
    <${Select} label=${t("shell.language")} value=${language.value} options=${languages}
      onInput=${(event) => setLanguage(event.target.value)} />
    <${Checkbox} label=${t("shell.letters")} checked=${letters.value}
      onChange=${(event) => switchLetters(event.target.checked)} />
    <${Checkbox} label=${t("shell.notifications")} checked=${notifying.value}
      onChange=${(event) => switchNotifying(event.target.checked)} />
  <//>`;
}

const TABS = {
  connect: Connect, tokens: Tokens, people: People, project: Project,
  webhooks: () => html`<${LazyView} path="settings/webhooks" />`,
  rules: () => html`<${LazyView} path="settings/rules" />`, log: Log, preferences: Preferences,
};

export function View() {
  const { tab } = route.value.query;
  const current = tab in TABS ? tab : "connect";
  const Panel = TABS[current];
  const tabs = Object.keys(TABS).map((id) => ({ id, label: t(`settings.tab_${id}`) }));
  return html`<div class="view settings">
    <${Tabs} label=${t("settings.parts")} tabs=${tabs} current=${current}
      onChange=${(id) => set({ tab: id }, { replace: true })}>
      <div class="stack settings-panel"><${Panel} /></div><//>
  </div>`;
}

// The settings: one tab for each thing that can be set, each with an address of its own.
import { html } from "../vendor/ui.js";
import { t } from "../words.js";
import { Loaded } from "../shell/loaded.js";
import { route, set } from "../shell/router.js";
import { Tabs } from "../ui/tabs.js";
import { Connect } from "./settings/connect.js";
import { Log } from "./settings/log.js";
import { People } from "./settings/people.js";
import { Preferences } from "./settings/preferences.js";
import { Project } from "./settings/project.js";
import { Tokens } from "./settings/tokens.js";

const TABS = {
  connect: Connect, tokens: Tokens, people: People, project: Project,
  webhooks: () => html`<${Loaded} path="settings/webhooks" />`,
  rules: () => html`<${Loaded} path="settings/rules" />`, log: Log, preferences: Preferences,
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

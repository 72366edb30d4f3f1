// Preferences: how this browser shows the dashboard. Nobody else sees a difference.
import { html } from "../../vendor/ui.js";
import { language, LANGUAGES, setLanguage, t } from "../../words.js";
import { notifying, switchNotifying } from "../../shell/notify.js";
import { letters, switchLetters } from "../../shell/keys.js";
import { setTheme, theme, THEMES } from "../../shell/look.js";
import { Checkbox, Select } from "../../ui/field.js";
import { Part } from "./parts.js";

export function Preferences() {
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

// Dark, light, or as the system says: kept in a cookie, so that the hub can send the page in it at once.
import { signal } from "../vendor/ui.js";

const A_YEAR = 365 * 24 * 3600;

export const THEMES = ["dark", "light", "system"];

/** @type {{value: "dark"|"light"|"system"}} */
export const theme = signal(document.documentElement.dataset.theme || "system");

/** @param {"dark"|"light"|"system"} chosen */
export function setTheme(chosen) {
  theme.value = chosen;
  const system = chosen === "system";
  if (system) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  const value = system ? "; max-age=0" : `${chosen}; max-age=${A_YEAR}`;
  document.cookie = `hubbub_theme=${value}; path=/; SameSite=Lax`;
}

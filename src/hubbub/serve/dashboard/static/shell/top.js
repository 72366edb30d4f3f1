// The line above a view: its name, the filter, search, how the page looks, who looks, and the button for a new task.

import { computed, html, useEffect, useRef, useState } from "../vendor/ui.js";
import { KEYS, parse, toggle, unknownKeys } from "../model/filter.js";
import { isEnded, SPELLED, STATES } from "../model/states.js";
import { agents, could, may, standstill, tasks } from "../model/store.js";
import { list, t } from "../i18n.js";
import { Account, setTheme, theme, THEMES } from "./account.js";
import { createTask, openPalette } from "./dialogs.js";
import { useKey } from "./keyboard.js";
import { lazy } from "./lazy.js";
import { route, set } from "./router.js";
import { Button, Chip, Icon, IconButton, Menu } from "../ui/controls.js";
import { written } from "../ui/form.js";
import { Glyph, stateWord } from "../ui/marks.js";

/** More areas than these would fill the line; the others are found by typing. */
const AREAS = 6;
const THEME_ICONS = { dark: "moon", light: "sun", system: "monitor" };
/** The views in which the filter changes what is seen. */
const FILTERED = ["needs", "board", "fleet", "messages", "files", "graph", "activity"];

/** The areas in which most goes on. */
const areas = computed(() => {
  const found = new Map();
  const add = ({ area }) => area && found.set(area, (found.get(area) ?? 0) + 1);
  for (const task of tasks.value.values()) if (!isEnded(task)) add(task);
  agents.value.forEach(add);
  return [...found].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, AREAS).map(([name]) => name);
});

export function Top() {
  const { view, query } = route.value;
  const isFiltered = FILTERED.includes(view);
  const [asked, setFiltering] = useState(false);
  const filtering = asked || Boolean(query.q);
  useKey("mod+k", "keys.palette", () => openPalette(), { group: "find" });
  useKey("c", "keys.create", () => (may.value.write ? createTask() : false), { group: "act" });
  return html`<header class="top">
    <h1>${t(`shell.${view}`)}</h1>
    ${isFiltered && html`<${Filter} open=${filtering} />`}
    <div class="top-tools">
      ${isFiltered && html`<${IconButton} class="filter-toggle" icon="filter" label=${t("shell.show_filter")}
        aria-expanded=${filtering} onClick=${() => setFiltering(!filtering)} />`}
      <${Button} icon="search" keyHint=${written("mod+k")} class="find" aria-label=${t("shell.search")}
        onClick=${() => openPalette()}><span>${t("shell.search")}</span><//>
      <${Menu} bare icon=${THEME_ICONS[theme.value]} label=${t("shell.theme")} items=${THEMES.map((name) => ({
        label: t(`shell.theme_${name}`), icon: THEME_ICONS[name], radio: true, checked: theme.value === name,
        run: () => setTheme(name),
      }))} />
      <${Account} />
      ${could.value.write && html`<${Button} kind="primary" icon="plus" disabled=${!may.value.write}
        title=${standstill.value ? t(standstill.value) : undefined}
        onClick=${createTask}>${t("shell.task")}<//>`}
    </div>
  </header>`;
}

/** @param {{open: boolean}} props on phones there is room for it only where it is asked for */
function Filter({ open }) {
  const field = useRef(null);
  const { view, query: { q: typed = "" } } = route.value;
  const query = parse(typed);
  useKey("/", "keys.filter", () => field.current.focus(), { group: "find" });
  const change = (q) => set({ q }, { replace: true });
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.currentTarget.blur();
  };
  return html`<search class=${open ? "filter is-open" : "filter"}>
    <span class="filter-field">
      <${Icon} name="filter" size=${15} />
      <input class="input" type="search" ref=${field} value=${typed} placeholder=${t("shell.filter")}
        aria-label=${t("shell.filter")} title=${t("shell.filter_hint")} aria-keyshortcuts="/" autocomplete="off"
        spellcheck="false" onInput=${(event) => change(event.currentTarget.value)} onKeyDown=${onKeyDown} />
      <kbd aria-hidden="true">/</kbd>
      <${Unknown} keys=${unknownKeys(typed)} />
    </span>
    <${States} query=${query} toggleState=${(state) => change(toggle(typed, "state", state))} />
    ${view === "board" && html`<${Arranging} />`}
    <div class="chips">${areas.value.map((area) => html`<${Chip} key=${area}
      pressed=${query.area.includes(area.toLowerCase())}
      onClick=${() => change(toggle(typed, "area", area))}>${area}<//>`)}</div>
    ${typed && html`<${IconButton} kind="quiet" small icon="x" label=${t("shell.clear_filter")}
      onClick=${() => change("")} />`}
  </search>`;
}

/** Says of keys that the filter does not know which ones it knows. @param {{keys: string[]}} props */
function Unknown({ keys }) {
  const words = keys.length > 0 && t("shell.filter_unknown", { keys: list(keys), known: list(KEYS) });
  return html`<span class="filter-unknown" role="status">${words}</span>`;
}

/** How the board is arranged: there as soon as it has come. */
function Arranging() {
  const [Part, setPart] = useState(null);
  useEffect(() => {
    lazy("arranging").then((part) => part && setPart(() => part.Arranging));
  }, []);
  return Part && html`<${Part} />`;
}

/** The filter by exact state: eleven states, not five columns. */
function States({ query, toggleState }) {
  const isChosen = (state) => query.state.includes(state) || query.state.includes(SPELLED[state]);
  const chosen = STATES.filter(isChosen);
  const items = () => {
    const counts = new Map();
    for (const { state } of tasks.value.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
    return STATES.map((state) => ({
      label: html`<span class="row"><${Glyph} state=${state} quiet />${stateWord(state)}</span>`,
      checked: isChosen(state), hint: String(counts.get(state) ?? 0),
      run: () => toggleState(query.state.includes(state) ? state : SPELLED[state] ?? state),
    }));
  };
  const words = chosen.length ? t("shell.states_chosen", { count: chosen.length }) : t("shell.state");
  return html`<${Menu} small icon="list-filter" label=${words} items=${items}
    class=${chosen.length ? "states-menu is-on" : "states-menu"}><span>${words}</span><//>`;
}

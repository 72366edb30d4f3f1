// How the board is arranged, and the views of it that somebody wants to have again. What is chosen stands in the
// address; what is saved is kept by this browser, for each project.

import { html, signal } from "../vendor/ui.js";
import { project } from "../model/store.js";
import { t } from "../i18n.js";
import { ask } from "./dialogs.js";
import { route, set } from "./router.js";
import { Menu } from "../ui/controls.js";

const GROUPS = ["none", "agent", "area", "priority"];
const SORTS = ["usual", "priority", "newest", "oldest"];
/** What a saved view consists of, as the address says it. */
const PARTS = ["q", "group", "sort"];

const place = () => `hubbub_views ${project.value}`;
const read = () => JSON.parse(localStorage.getItem(place()) ?? "{}");

/** The saved views by their names, once they were asked for. */
const saved = signal(null);

function keep(views) {
  saved.value = views;
  localStorage.setItem(place(), JSON.stringify(views));
}

const current = () => Object.fromEntries(PARTS.map((part) => [part, route.value.query[part] ?? null]));
const isCurrent = (view) => PARTS.every((part) => view[part] === current()[part]);

async function save() {
  const words = { title: t("board.save_view"), label: t("board.view_name"), action: t("board.save") };
  const name = await ask(words);
  if (name) keep({ ...saved.value, [name.replace(/\s+/g, " ")]: current() });
}

function forget(name) {
  const { [name]: _gone, ...others } = saved.value;
  keep(others);
}

/** One of a few, the first of which is what there is without a choice. */
const choices = (part, names) => names.map((name, at) => ({
  label: t(`board.${part}_${name}`), radio: true, checked: (route.value.query[part] ?? names[0]) === name,
  run: () => set({ [part]: at ? name : null }, { replace: true }),
}));

function savedViews() {
  const views = Object.entries(saved.value ??= read());
  const isChanged = PARTS.some((part) => current()[part]);
  const [known] = views.find(([, view]) => isCurrent(view)) ?? [];
  return [
    views.length > 0 && { heading: t("board.saved") },
    ...views.map(([name, view]) => ({
      label: html`<bdi>${name}</bdi>`, radio: true, checked: name === known, run: () => set(view),
    })),
    "-",
    known ? { label: t("board.forget", { name: known }), icon: "trash-2", run: () => forget(known) }
      : { label: t("board.save_view"), icon: "plus", disabled: !isChanged, run: save },
  ];
}

/** The menu beside the filter of the board. */
export function Arranging() {
  const items = () => [
    { heading: t("board.group") }, ...choices("group", GROUPS), { heading: t("board.sort") }, ...choices("sort", SORTS),
    ...savedViews(),
  ];
  return html`<${Menu} small icon="list-checks" label=${t("board.view")} items=${items}
    class="states-menu"><span>${t("board.view")}</span><//>`;
}

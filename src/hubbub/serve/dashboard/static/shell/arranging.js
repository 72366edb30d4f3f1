// How the board is arranged, and the views of it that somebody wants to have again. What is chosen stands in the
// address; what is saved is kept by this browser, for each project.

import { html, signal } from "../vendor/ui.js";
import { finishedIn } from "../model/filter.js";
import { now, project } from "../model/store.js";
import { t } from "../i18n.js";
import { ask, askDates } from "./dialogs.js";
import { useKey } from "./keyboard.js";
import { route, set } from "./router.js";
import { Menu } from "../ui/controls.js";
import { finishedWords } from "../ui/text.js";

const GROUPS = ["none", "agent", "area", "priority"];
const SORTS = ["usual", "priority", "newest", "oldest"];
const FINISHED = ["all", "today", "7d"]; // beside dates
/** What a saved view consists of, as the address says it. */
const PARTS = ["q", "group", "sort", "finished"];

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
  const words = { title: t("board.save_view"), label: t("board.view_name"), action: t("board.save"), short: true };
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

async function chooseDates() {
  const dates = await askDates({ title: t("board.finished"), action: t("board.show") });
  if (dates) set({ finished: dates }, { replace: true });
}

/** Which of the ended tasks are shown. */
function finishedChoices() {
  const said = finishedIn(route.value.query.finished, now.value) ? route.value.query.finished : FINISHED[0];
  const isKnown = FINISHED.includes(said);
  const label = isKnown ? t("board.finished_choose") : finishedWords(said);
  return [
    ...choices("finished", FINISHED).map((choice, at) => ({ ...choice, checked: said === FINISHED[at] })),
    { label, radio: true, checked: !isKnown, run: chooseDates },
  ];
}

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

/** The next of the times in which shown tasks may have ended. */
function nextFinished() {
  const next = FINISHED[FINISHED.indexOf(route.value.query.finished ?? FINISHED[0]) + 1];
  set({ finished: next ?? null }, { replace: true });
}

/** The menu beside the filter of the board. */
export function Arranging() {
  useKey("f", "board.key_finished", nextFinished, { group: "act" });
  const items = () => [
    { heading: t("board.group") }, ...choices("group", GROUPS), { heading: t("board.sort") }, ...choices("sort", SORTS),
    { heading: t("board.finished") }, ...finishedChoices(), ...savedViews(),
  ];
  return html`<${Menu} small icon="list-checks" label=${t("board.view")} items=${items}
    class=${route.value.query.finished ? "states-menu is-on" : "states-menu"}><span>${t("board.view")}</span><//>`;
}

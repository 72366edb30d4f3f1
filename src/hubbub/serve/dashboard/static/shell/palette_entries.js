// What the palette offers for what was typed, out of what the page knows: the best first.

import { html } from "../vendor/ui.js";
import { findTask } from "../model/states.js";
import { agents, could, may, shown, tasks } from "../model/store.js";
import { LANGUAGES, setLanguage, t } from "../i18n.js";
import { setTheme, signOut, THEMES } from "./account.js";
import { compose, createTask, openHelp } from "./dialogs.js";
import { OPERATE, WATCH } from "./nav.js";
import { go, route, set } from "./router.js";
import { Icon } from "../ui/controls.js";
import { Glyph, stateWord, Tile } from "../ui/marks.js";
import { Text } from "../ui/text.js";
import { actionsOn, labelOf, perform } from "../views/task/actions.js";

/**
 * @typedef {object} Found
 * @property {string} key
 * @property {string} text what words are looked for in, in lower case
 * @property {number} [number] of a task
 * @property {() => {mark: any, label: any, hint?: string}} look made only for those that are shown
 * @property {() => void} run
 */

/** So many are offered at a time. */
const MOST = 12;
const SETTINGS = ["project", "people", "tokens", "webhooks", "rules", "connect", "log", "preferences"];
const NUMBER = /^(?:t-?|#)?(\d+)$/;

/** @param {string} typed @returns {Found[]} */
export function found(typed) {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [...commands().slice(0, 1), ...places()].slice(0, MOST);
  const number = words.map((word) => NUMBER.exec(word)?.[1]).find(Boolean);
  const wanted = words.map((word) => word.replace(/^#(?=\d)/, "t-"));
  const exact = words.length === 1 ? Number(number) : NaN;
  const ranked = [];
  for (const one of [...named(number), ...cards(), ...places(), ...settings(), ...commands(), ...files()]) {
    const rank = one.number === exact ? -1 : rankOf(one.text, wanted);
    if (rank < Infinity) ranked.push([rank, one]);
  }
  return ranked.sort((a, b) => a[0] - b[0]).slice(0, MOST).map(([, one]) => one);
}

/** How well a text fits, 0 best: as a whole, from its beginning, from the beginnings of words, somewhere. */
function rankOf(text, words) {
  let rank = text.startsWith(words.join(" ")) ? 0 : 1;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return Infinity;
    rank += at === 0 || /[\s/.-]/.test(text[at - 1]) ? 0 : 4;
  }
  return rank;
}

/** A task as the palette shows it. @returns {Found} */
export function ofTask(task) {
  return {
    key: `task:${task.id}`,
    number: task.number,
    text: `t-${task.number} ${task.title}`.toLowerCase(),
    look: () => {
      const { state } = task;
      const label = html`<bdi class="ref mono">T-${task.number}</bdi> <${Text} value=${task.title} lines=${1} />`;
      return { mark: html`<${Glyph} state=${state} quiet />`, label, hint: stateWord(state) };
    },
    run: () => openTask(task),
  };
}

/** At the side of what is looked at, if that is made of tasks; else at the side of the board. */
function openTask(task) {
  const { view, query } = route.value;
  if (["board", "graph", "needs", "fleet"].includes(view)) set({ task: task.number, agent: null });
  else go("board", { q: query.q, task: task.number });
}

const ofCards = new WeakMap();

/** The same entry for the same card: cards are replaced, never changed. */
function cached(card, make) {
  if (!ofCards.has(card)) ofCards.set(card, make(card));
  return ofCards.get(card);
}

function* cards() {
  for (const task of tasks.value.values()) yield cached(task, ofTask);
  for (const agent of agents.value.values()) yield cached(agent, ofAgent);
}

function ofAgent(agent) {
  return {
    key: `agent:${agent.name}`,
    text: agent.name.toLowerCase(),
    look: () => ({
      mark: html`<${Tile} agent=${agent} picture=${shown.value} small />`,
      label: html`<${Text} value=${agent.name} lines=${1} />`,
      hint: stateWord(agent.state, true),
    }),
    run: () => go("fleet", { agent: agent.name }),
  };
}

/** What can be done to a task whose number was typed, or else to the one that is open: "Cancel T-12". */
function named(number = route.value.query.task) {
  const task = number && may.value.write ? findTask(number, shown.value) : undefined;
  if (!task) return [];
  return actionsOn(task).map((action) => command(
    action.id, `${labelOf(action, task)} T-${task.number}`, action.icon, () => perform(action.id, task)));
}

const places = () => [...WATCH, ...OPERATE].map(({ view, icon, chord }) =>
  command(view, t(`shell.${view}`), icon, () => go(view), `g ${chord}`));

const settings = () => SETTINGS.map((tab) =>
  command(`settings-${tab}`, `${t("shell.settings")}: ${t(`settings.tab_${tab}`)}`, "settings",
    () => go("settings", { tab })));

function commands() {
  const create = command("create", t("palette.create"), "plus", createTask, "c");
  const send = t("messages.send_message");
  const write = command("message", t("messages.new"), "send", () => compose([]), undefined, send);
  const languages = Object.entries(LANGUAGES).map(([tag, called]) =>
    command(`language-${tag}`, `${t("shell.language")}: ${called}`, "settings", () => setLanguage(tag)));
  const leave = command("sign-out", t("shell.sign_out"), "log-out", signOut);
  const themes = THEMES.map((name) =>
    command(`theme-${name}`, `${t("shell.theme")}: ${t(`shell.theme_${name}`)}`, "sun", () => setTheme(name)));
  const help = command("help", t("shell.help"), "keyboard", openHelp, "?");
  return [...(may.value.write && could.value.write ? [create, write] : []), help, ...themes, ...languages, leave];
}

/** The files that agents have said they change. */
function files() {
  const names = new Set([...agents.value.values()].flatMap((agent) => agent.files ?? []));
  return [...names].map((name) => command(`file-${name}`, name, "file-code", () => go("files", { q: name })));
}

/** @param {string} [also] what else it is looked for by @returns {Found} */
function command(key, label, icon, run, hint, also = "") {
  const look = () => ({ mark: html`<${Icon} name=${icon} />`, label, hint });
  return { key, text: `${label} ${also}`.toLowerCase(), run, look };
}

// The keyboard: one list of what each key does, which is also what the help shows, and moving from card to card.
// Single letters never act while somebody types, and can be switched off (WCAG 2.1.4).

import { signal, useLayoutEffect, useRef } from "../vendor/ui.js";
import { isAway } from "../hub/stream.js";
import { t } from "../i18n.js";
import { toast } from "../ui/overlays.js";

const STORED = "hubbub_keys";
/** How long after `g` the second letter of a chord counts (ms). */
const CHORD = 1_500;
/** Who types without looking pauses for this long before the next word is a command again (ms). */
const PAUSE = 1_000;

/** Whether single letters act. */
export const letters = signal(localStorage.getItem(STORED) !== "off");

/** @param {boolean} on */
export function switchLetters(on) {
  letters.value = on;
  localStorage.setItem(STORED, on ? "on" : "off");
}

/**
 * @typedef {{key: string, word: string, group: string, run: (item: string|null, event: KeyboardEvent) => any}} Key
 *   `key`: "a", "?", "space", "Escape", "mod+k" (⌘ or Ctrl), "g b"; `word`: the key of its sentence in words;
 *   `run` gets what the focused card stands for; returning false lets an older one have the key
 */
/** @type {Key[]} newest last: the newest has the key */
let keys = [];
/** Everything that acts now, for the help. */
export const known = signal(/** @type {Key[]} */ ([]));

/** @param {Key} key @returns {() => void} forgets it */
export function register(key) {
  keys = [...keys, key];
  known.value = keys;
  return () => {
    keys = keys.filter((one) => one !== key);
    known.value = keys;
  };
}

/**
 * A key that acts while the component is on the page, from the moment in which that is drawn.
 * @param {string} key @param {string} word @param {Key["run"]} run @param {{group?: string}} [options]
 */
export function useKey(key, word, run, { group = "act" } = {}) {
  const latest = useRef(run);
  latest.current = run;
  useLayoutEffect(() => register({ key, word, group, run: (item, event) => latest.current(item, event) }), [key, word]);
}

/** What the focused card stands for ("task:ID"), or null. */
function focusedItem() {
  return document.activeElement?.closest("[data-item]")?.getAttribute("data-item") ?? null;
}

let chord = null;
let chordAt = 0;

/**
 * What was asked for and is not drawn yet, each of which keys are meant for; one that has come is drawn by `until`.
 * @type {Set<{until?: number}>}
 */
const awaited = new Set();
let missedAt = -Infinity; // when a key was meant for what did not come
let typedAhead = ""; // for the field that is on its way
/** How long after its module a dialog is drawn, at most (ms). */
const DRAWN = 1_000;

/**
 * Keep keys from acting until what was asked for is there, where letters are written then; Esc gives it up.
 * @returns {[() => boolean, () => boolean]} what to call when it is there, and when it did not come: each says
 *   whether somebody still waits for it
 */
export function hold() {
  /** @type {{until?: number}} */
  const one = {};
  awaited.add(one);
  const end = () => awaited.has(one) && (one.until = performance.now() + DRAWN, handOver(one), true);
  return [end, () => (missedAt = performance.now(), typedAhead = "", awaited.delete(one))];
}

/** Write what was typed ahead into the field of the dialog as soon as that is drawn; without a field it is dropped. */
function handOver(one) {
  if (!awaited.has(one)) return undefined;
  const field = /** @type {HTMLInputElement|null} */ (document.activeElement);
  const isDrawn = field?.closest("dialog[open]") && isTyping(field) && field.selectionStart != null;
  if (!isDrawn && performance.now() < one.until) return void requestAnimationFrame(() => handOver(one));
  awaited.delete(one);
  if (isDrawn && typedAhead) {
    field.setRangeText(typedAhead, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true, data: typedAhead }));
  }
  typedAhead = "";
}

/** What was typed ahead stands before what somebody types into the field, also in the frame in which that is drawn. */
function catchUp() {
  for (const one of awaited) if (one.until !== undefined) handOver(one);
}

/** Whether a key is meant for what is not there, and must do nothing. */
function isForAnother(name, at) {
  const isAwaited = awaited.size > 0;
  if (name === "Escape") typedAhead = "";
  if (name === "Escape") awaited.clear();
  if (name === "Escape" || !(isText(name) || name === "Enter")) return isAwaited;
  const isMissed = at - missedAt < PAUSE;
  if (isMissed) missedAt = at;
  return isMissed || isAwaited;
}

/** Whether a key is one that would be written: a letter, a chord of letters, a sign, a blank. */
const isText = (name) => name === "space" || !/\w\w/.test(name);

/** @param {KeyboardEvent} event */
function onKeyDown(event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (typedAhead && isTyping(event.target)) catchUp();
  const name = nameOf(event);
  const single = !name.startsWith("mod+") && name !== "Escape";
  if (single && (isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey)) return;
  if (single && name.length === 1 && !letters.value) return;
  if (document.querySelector("dialog[open]") && name !== "mod+k") return;
  if (!name.startsWith("mod+") && isForAnother(name, event.timeStamp)) {
    if (awaited.size > 0 && isText(name)) typedAhead += event.key;
    return void event.preventDefault();
  }
  if (run(withChord(name, event.timeStamp), event)) event.preventDefault();
}

/** `g` waits for the next letter. */
function withChord(name, at) {
  const whole = chord && at - chordAt < CHORD ? `${chord} ${name}` : name;
  chord = name === "g" ? name : null;
  chordAt = at;
  return whole;
}

/** @returns {boolean} whether something was done */
function run(name, event) {
  const acting = keys.filter((key) => key.key === name).reverse();
  if (acting.length && isText(name) && isAway.value) {
    toast(t("errors.not_loaded"), { kind: "away" });
    return true;
  }
  for (const key of acting) {
    if (key.run(focusedItem(), event) !== false) return true;
  }
  return false;
}

/** @param {KeyboardEvent} event */
function nameOf(event) {
  if ((event.metaKey || event.ctrlKey) && event.key.length === 1) return `mod+${event.key.toLowerCase()}`;
  return event.key === " " ? "space" : event.key;
}

/** Where letters are text, and where space and Enter press what has the focus. */
export function isTyping(target) {
  return target instanceof HTMLElement
    && (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select"));
}

export function listen() {
  addEventListener("keydown", onKeyDown);
}

// hjkl and the arrows: from one card to the next, by where they are on the screen.

/** @type {Record<string, [number, number]>} */
const WAYS = {
  h: [-1, 0], j: [0, 1], k: [0, -1], l: [1, 0],
  ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0],
};
/** Being off to the side counts so many times as much as being farther along. */
const ASIDE = 3;

/** @type {Set<{current: Element|null}>} where the elements are whose [data-item]s can be moved among */
const lists = new Set();

/** Lets one move among what is in an element, while the component is on the page. */
export function useList(ref) {
  useLayoutEffect(() => {
    lists.add(ref); // a view may draw its list only when the picture has come
    return () => lists.delete(ref);
  }, []);
}

/** The keys themselves; once, by the shell. @returns {() => void} */
export function registerMoving() {
  const all = Object.entries(WAYS).map(([key, way]) => register({
    key, group: key.length === 1 ? "move" : "arrows", word: "keys.move",
    run: (item) => move(way, key.length === 1 || item !== null),
  }));
  return () => all.forEach((forget) => forget());
}

/** @param {[number, number]} way @param {boolean} may arrows scroll the page unless a card has the focus */
function move(way, may) {
  if (!may) return false;
  const items = [...lists].flatMap(({ current }) => [...(current?.querySelectorAll("[data-item]") ?? [])])
    .filter(isSeen);
  const now = document.activeElement?.closest("[data-item]");
  const next = now && items.includes(now) ? nearest(now, items, way) : items[0];
  if (!next) return items.length > 0;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
  return true;
}

/** The card that is nearest that way, measured between the middles. */
function nearest(now, items, [dx, dy]) {
  const from = box(now);
  let best = null;
  let least = Infinity;
  for (const item of items) {
    if (item === now) continue;
    const to = box(item);
    const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
    const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
    const isThere = dx ? along > from.w / 2 : along > 1 && aside < from.w;
    if (!isThere) continue;
    if (along + aside * ASIDE < least) [best, least] = [item, along + aside * ASIDE];
  }
  return best;
}

function box(element) {
  const { left, top, width, height } = (element.closest(".card") ?? element).getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2, w: width };
}

function isSeen(element) {
  return element.checkVisibility() && !element.closest("[inert]");
}

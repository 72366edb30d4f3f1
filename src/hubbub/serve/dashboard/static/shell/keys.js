// The keyboard: one list of what each key does, which is also what the help shows.
// Single letters never act while somebody types, and can be switched off (WCAG 2.1.4).
import { signal, useEffect, useRef } from "../vendor/ui.js";
import { isAway } from "../hub/live.js";
import { toast } from "../ui/toasts.js";
import { t } from "../words.js";

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
 * A key that acts while the component is on the page.
 * @param {string} key @param {string} word @param {Key["run"]} run @param {{group?: string}} [options]
 */
export function useKey(key, word, run, { group = "act" } = {}) {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => register({ key, word, group, run: (item, event) => latest.current(item, event) }), [key, word]);
}

/** What the focused card stands for ("task:ID"), or null. */
function focusedItem() {
  return document.activeElement?.closest("[data-item]")?.dataset.item ?? null;
}

let chord = null;
let chordAt = 0;

/** What was asked for and is not there yet, each of which keys are meant for. @type {Set<object>} */
const awaited = new Set();
let missedAt = -Infinity; // when a key was meant for what did not come

/**
 * Keep keys from acting until what was asked for is there; Esc gives it up.
 * @returns {[() => boolean, () => boolean]} what to call when it is there, and when it did not come: each says
 *   whether somebody still waits for it
 */
export function hold() {
  const one = {};
  awaited.add(one);
  const end = () => awaited.delete(one);
  return [end, () => (missedAt = performance.now(), end())];
}

/** Whether a key is meant for what is not there, and must do nothing. */
function isForAnother(name, at) {
  const isAwaited = awaited.size > 0;
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
  const name = nameOf(event);
  const single = !name.startsWith("mod+") && name !== "Escape";
  if (single && (isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey)) return;
  if (single && name.length === 1 && !letters.value) return;
  if (document.querySelector("dialog[open]") && name !== "mod+k") return;
  if (!name.startsWith("mod+") && isForAnother(name, event.timeStamp)) return void event.preventDefault();
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
    toast(t("errors.unreachable"), { kind: "error" });
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

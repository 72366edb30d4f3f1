// Everything people read, in their language: `t(key, {values})` out of words/en.json and words/zh-CN.json,
// and moments, spans and numbers as that language writes them. What Chinese lacks is said in English.

import { signal } from "./vendor/ui.js";
import { fetchWithRetry } from "./hub/api.js";

/** The languages there are, each called by its own name. */
export const LANGUAGES = { en: "English", "zh-CN": "简体中文" };

/** The tag of the language that is spoken, a key of LANGUAGES. */
export const language = signal(document.documentElement.lang in LANGUAGES ? document.documentElement.lang : "en");

const words = signal({});
const loadedWords = {};
const YEAR_IN_SECONDS = 365 * 24 * 3600;

async function load(tag) {
  loadedWords[tag] ??= await (await fetchWithRetry(new URL(`./words/${tag}.json`, import.meta.url))).json();
  return loadedWords[tag];
}

/** Fetch the words of the language; before that `t` knows nothing. */
export async function loadWords() {
  const tag = language.value;
  await Promise.all(["en", tag].map(load));
  if (tag === language.value) words.value = loadedWords[tag];
}

/** Speak another language from now on, and at the next visit too. */
export async function setLanguage(tag) {
  language.value = tag;
  await loadWords();
  document.documentElement.lang = tag;
  document.cookie = `hubbub_language=${tag}; path=/; max-age=${YEAR_IN_SECONDS}; SameSite=Lax`;
}

/**
 * The words for a key, with `{name}` replaced by values. With a `count` the key may have forms, `key_one` and
 * `key_other`, and the count is written as the language writes numbers.
 * @param {string} key  "section.key"
 * @param {Record<string, string|number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const found = find(words.value, key, values) ?? find(loadedWords.en ?? {}, key, values) ?? key;
  return found.replaceAll(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : (value ?? whole);
  });
}

/** Whether there are words for a key. */
export const has = (key) => find(loadedWords.en ?? {}, key, {}) !== undefined;

/**
 * @param {Record<string, Record<string, string>>} all @param {string} key @param {{count?: any}} values
 * @returns {string|undefined}
 */
function find(all, key, { count }) {
  const dot = key.indexOf(".");
  const section = all[key.slice(0, dot)] ?? {};
  const name = key.slice(dot + 1);
  if (count === undefined) return section[name];
  return section[`${name}_${format("PluralRules").select(count)}`] ?? section[`${name}_other`] ?? section[name];
}

const formats = new Map();

/** The formatter of `Intl` for the language; each is made once, as making one is slow. */
function format(kind, options = {}) {
  const key = `${language.value} ${kind} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new Intl[kind](language.value, options));
  return formats.get(key);
}

export const number = (value) => format("NumberFormat").format(value);

/** Dollars: in cents, or finer where there are none. */
export const money = (dollars) => format("NumberFormat", {
  style: "currency", currency: "USD", maximumFractionDigits: dollars > 0 && dollars < 0.01 ? 4 : 2,
}).format(dollars);

/** 09:17:03 */
export const clock = (at) =>
  format("DateTimeFormat", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(at);

/** 09:17 */
export const hourAndMinute = (at) =>
  format("DateTimeFormat", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at);

/** Sat, 22 Nov, or 11月22日周六; where the browser is, or in the time zone that is named. */
export const day = (at, timeZone = undefined) =>
  format("DateTimeFormat", { weekday: "short", day: "numeric", month: "short", timeZone }).format(at);

/** 09:17 of today, else the day too. */
export const shortTime = (at) =>
  (new Date(at).toDateString() === new Date().toDateString() ? "" : `${day(at)} `) + hourAndMinute(at);

/** The whole moment, to the second. */
export const fullTime = (at) =>
  format("DateTimeFormat", { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" }).format(at);

/** @type {[string, number][]} */
const STEPS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]];

/** A duration in milliseconds, compact: "8s", "36m", "1h 5m", "3d". Minutes beside days say nothing. */
export function span(duration) {
  const left = Math.max(0, duration);
  const first = STEPS.findIndex(([, length]) => left >= length);
  if (first < 0) return unit("second", 0);
  const [name, length] = STEPS[first];
  const whole = unit(name, Math.floor(left / length));
  const rest = Math.floor((left % length) / (STEPS[first + 1]?.[1] ?? length));
  return name === "hour" && rest ? `${whole} ${unit("minute", rest)}` : whole;
}

const unit = (name, value) =>
  format("NumberFormat", { style: "unit", unit: name, unitDisplay: "narrow" }).format(value);

/** Facts beside each other: "7 agents, 4 working". */
export const beside = (...facts) => facts.join(language.value === "en" ? ", " : "，");

/** Several names as one enumeration: "a, b, and c". */
export const list = (names) => format("ListFormat", { type: "conjunction" }).format(names);

// The replay bar: the log as a row of bars, and a handle that says which moment is shown. All the way to the right is
// now. Nothing here changes anything on the hub.

import { html, useMemo, useRef } from "../vendor/ui.js";
import { BAD } from "../model/event_kinds.js";
import { hubNow, moment, now, recent } from "../model/store.js";
import {
  earlier, loading, longestGap, pause, play, playing, seek, speed, SPEEDS, squeezed, step, toLive,
} from "../hub/replay.js";
import { connection } from "../hub/stream.js";
import { sentence } from "../hub/actions.js";
import { clock, hourAndMinute, span, t } from "../i18n.js";
import { useKey } from "./keyboard.js";
import { Button, IconButton, Menu } from "../ui/controls.js";
import { toast } from "../ui/overlays.js";
import { Clock } from "../ui/text.js";

// How much happened when: the log that is loaded, as bars of equal time. Pure.

const BUCKETS = 160;
const TALLEST = 20;
const FLOOR = 24; // where the bars stand; above them is the line of red marks
const LOWEST = 1.5;

/**
 * When each happened, never later than what follows it: clocks of hubs differ, the order of the log counts.
 * @param {{at: number}[]} activities in the order of the log
 */
function timesOf(activities) {
  const times = new Float64Array(activities.length);
  let least = Infinity;
  for (let place = activities.length - 1; place >= 0; place -= 1) {
    least = Math.min(least, activities[place].at);
    times[place] = least;
  }
  return times;
}

/**
 * Where each activity stands on a bar on which no gap is longer than the `longest`, and how long that may be.
 * @param {Float64Array} times
 */
function squeeze(times) {
  const longest = longestGap(times);
  const places = new Float64Array(times.length);
  for (let place = 1; place < times.length; place += 1) {
    places[place] = places[place - 1] + Math.min(longest, times[place] - times[place - 1]);
  }
  return { places, longest };
}

/**
 * How many activities are in each stretch, and in which of them something went wrong.
 * @param {{kind: string}[]} activities @param {Float64Array} times of them
 * @param {{from: number, to: number}} range milliseconds
 */
function bucketed(activities, times, { from, to }) {
  const counts = new Array(BUCKETS).fill(0);
  const bad = new Set();
  const length = Math.max(1, to - from);
  activities.forEach(({ kind }, place) => {
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor(((times[place] - from) / length) * BUCKETS)));
    counts[bucket] += 1;
    if (BAD.has(kind)) bad.add(bucket);
  });
  return { counts, bad };
}

/**
 * The bars from one bucket to another as one path; roots, so that a burst does not flatten the rest.
 * @param {number[]} counts @param {number} first @param {number} end
 */
function bars(counts, first, end) {
  const most = Math.max(1, ...counts);
  let path = "";
  for (let bucket = first; bucket < end; bucket += 1) {
    if (!counts[bucket]) continue;
    const height = Math.max(LOWEST, TALLEST * Math.sqrt(counts[bucket] / most)).toFixed(1);
    path += `M${bucket + 0.1} ${FLOOR}v-${height}h.8V${FLOOR}z`;
  }
  return path;
}

/** So few bars say nothing of a course; two of them look like the sign for a pause. */
const FEW = 6;

/** The marks above what went wrong. @param {Set<number>} bad */
const marks = (bad) => [...bad].map((bucket) => `M${bucket - 0.2} 0h1.4v2h-1.4z`).join("");

/**
 * The last activity that had happened by then, as its place; -1 before the first.
 * @param {Float64Array} times @param {number} at
 */
function placeAt(times, at) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Moving through the log from the bar; a refusal is told as everywhere.

const AT_THE_END = 0.995; // of the width: there it is now

let before = Promise.resolve();

/**
 * Move, once all moves before are done: keys come faster than the log is fetched.
 * @param {() => any} move @returns {Promise<any>}
 */
function tried(move) {
  before = before.then(() => attempted(move));
  return before;
}

async function attempted(move) {
  try {
    return await move();
  } catch (error) {
    if (error.name !== "Refused") throw error;
    toast(sentence(error, "errors.not_loaded"), { kind: "error" });
    return null;
  }
}

/**
 * Show the moment at a share of the bar's length, 0 to 1.
 * @param {number} share @param {Scale} scale
 */
function seekShare(share, { places, from, to }) {
  const activities = recent.value;
  if (share >= AT_THE_END || !activities.length) return toLive();
  const place = Math.min(activities.length - 1, Math.max(0, placeAt(places, from + share * (to - from))));
  return attempted(() => seek(activities[place].id)); // the last place that was dragged to counts
}

/** To the first activity that is loaded. */
function toBeginning() {
  const first = recent.value[0];
  return first && tried(() => seek(first.id));
}

/** Load the stretch of the log before; says so where there is none. */
async function loadEarlier() {
  const was = await tried(earlier);
  if (was === false) toast(t("replay.beginning"));
}

// The track: the histogram, and the handle on it, moved by mouse, finger or keys.

const PAGE = 50;
const KEYS = {
  ArrowLeft: () => tried(() => step(-1)), ArrowDown: () => tried(() => step(-1)),
  ArrowRight: () => tried(() => step(1)), ArrowUp: () => tried(() => step(1)),
  PageDown: () => tried(() => step(-PAGE)), PageUp: () => tried(() => step(PAGE)),
  Home: toBeginning, End: toLive,
};

/** @typedef {{places: Float64Array, from: number, to: number}} Scale  where activities stand, and what the bar shows */

/**
 * From where to where the bar goes: it ends now, also while the past is shown.
 * @param {Float64Array} times @param {ReturnType<typeof squeeze>|null} tight @returns {Scale}
 */
function scaleOf(times, tight) {
  const end = Math.max(moment.value ? hubNow() : now.value, times.at(-1) ?? 0);
  if (!tight) return { places: times, from: times[0] ?? end - 1, to: end };
  const { places, longest } = tight;
  return { places, from: 0, to: (places.at(-1) ?? 0) + Math.max(1, Math.min(longest, end - (times.at(-1) ?? 0))) };
}

/** Dragging: at most one move a frame, of the last place. @param {Scale} scale */
function useDrag(scale) {
  const frame = useRef(0);
  const latest = useRef(scale);
  latest.current = scale;
  const move = (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => seekShare(share, latest.current));
  };
  return {
    onPointerDown: (event) => {
      if (event.button) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      move(event);
    },
    onPointerMove: (event) => event.currentTarget.hasPointerCapture(event.pointerId) && move(event),
  };
}

/** What the handle says to who does not see it. */
function told(place, count) {
  if (!moment.value) return t("replay.now", { count });
  const { at } = moment.value;
  return t("replay.moment", { time: clock(at), ago: span(hubNow() - at), place: place + 1, count });
}

function Track() {
  const activities = recent.value;
  const times = useMemo(() => timesOf(activities), [activities]);
  const tight = useMemo(() => (squeezed.value ? squeeze(times) : null), [times, squeezed.value]);
  const scale = scaleOf(times, tight);
  const drag = useDrag(scale);
  const last = activities.length - 1;
  const place = Math.max(0, moment.value ? activities.findIndex(({ id }) => id === moment.value.id) : last);
  const { places, from, to } = scale;
  const share = moment.value ? ((places[place] ?? to) - from) / (to - from) : 1;
  const { counts, bad } = bucketed(activities, places, scale);
  const until = Math.round(share * BUCKETS);
  const isYoung = counts.filter(Boolean).length < FEW;
  const onKeyDown = (event) => {
    const run = KEYS[event.key];
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    run();
  };
  return html`<div class="bar-track" ...${drag}>
    ${isYoung ? html`<span class="bar-young faint small clip">${t("replay.young")}</span>` : html`
      <svg viewBox=${`0 0 ${BUCKETS} 24`} preserveAspectRatio="none" aria-hidden="true">
        <path class="bar-past" d=${bars(counts, 0, until)} />
        <path class="bar-future" d=${bars(counts, until, BUCKETS)} />
        <path class="bar-bad" d=${marks(bad)} />
      </svg>`}
    <div class="bar-handle" role="slider" tabindex="0" aria-label=${t("replay.slider")} aria-valuemin="1"
      aria-valuemax=${Math.max(1, activities.length)} aria-valuenow=${place + 1}
      aria-valuetext=${told(place, activities.length)} onKeyDown=${onKeyDown}
      style=${{ left: `${share * 100}%` }}></div>
  </div>`;
}

/** What is shown, and how the page is connected: said here too, as small screens have no room for it elsewhere. */
function Pill() {
  const { status } = connection.value;
  const isLive = !moment.value;
  const word = !isLive ? t("shell.past") : status === "live" ? t("replay.live") : t(`shell.${status}`);
  return html`<span class=${`bar-live is-${isLive ? status : "past"}`}><i aria-hidden="true"></i>${word}</span>`;
}

/** While the past is shown: which moment, and that nothing can be done to it. */
function Strip() {
  const { at } = moment.value;
  const words = { time: hourAndMinute(at), ago: span(hubNow() - at) };
  return html`<div class="bar-strip" role="note"><span class="grow">${t("replay.strip", words)}</span>
    <${Button} small onClick=${toLive}>${t("replay.back")}<//></div>`;
}

function Time() {
  const at = now.value;
  return html`<div class="bar-time mono num">
    ${moment.value && html`<strong>-${span(hubNow() - at)}</strong>`}
    <${Clock} at=${at} />
  </div>`;
}

// How fast, how tight, and where to: what is said of the past in one menu.

const MARKERS = 8; // the last of them
/** What has a name on the bar -> the key of its words. */
const NAMED = {
  "task.failed": "replay.mark_failed", "task.blocked": "replay.mark_blocked", "task.expired": "replay.mark_expired",
  "agent.timeout": "replay.mark_silent", "approval.asked": "replay.mark_asked", "node.offline": "replay.mark_offline",
};

/** The last moments that have a name, the newest first, as things to do. */
function markers() {
  const found = recent.value.filter(({ kind }) => kind in NAMED).slice(-MARKERS).reverse();
  if (!found.length) return [];
  return ["-", { heading: t("replay.markers") }, ...found.map(({ id, at, kind, agent, actor, detail }) => ({
    label: t(NAMED[kind], { task: `T-${detail.number ?? "?"}`, name: agent ?? detail.node ?? actor ?? "" }),
    hint: hourAndMinute(at),
    run: () => tried(() => seek(id)),
  }))];
}

function Options() {
  const items = () => [
    { heading: t("replay.speed") },
    ...SPEEDS.map((value) => ({
      label: `${value}×`, radio: true, checked: speed.value === value, run: () => (speed.value = value),
    })),
    "-",
    { label: t("replay.squeeze"), checked: squeezed.value, run: () => (squeezed.value = !squeezed.value) },
    ...markers(),
  ];
  return html`<span class="bar-options"><${Menu} kind="quiet" small label=${`${t("replay.options")}, ${speed.value}×`}
    items=${items}><span class="num">${`${speed.value}×`}</span><//></span>`;
}

const PRESSED = "button, a, summary, [role=button], [role=tab]";

/** Space presses what has the focus, if that can be pressed. */
function playOrPause(_item, event) {
  if (event?.target instanceof Element && event.target.closest(PRESSED)) return false;
  return playing.value ? pause() : tried(play);
}

export function Bar() {
  useKey("[", "replay.key_back", () => tried(() => step(-1)), { group: "time" });
  useKey("]", "replay.key_on", () => tried(() => step(1)), { group: "time" });
  useKey("space", "replay.key_play", playOrPause, { group: "time" });
  const isPlaying = playing.value;
  return html`<section class=${`bar ${moment.value ? "is-past" : ""}`} aria-label=${t("replay.title")}>
    ${moment.value && html`<${Strip} />`}
    <div class="bar-line">
      <${Pill} />
      <span class="bar-play">
        <${IconButton} icon=${isPlaying ? "pause" : "play"} label=${t(isPlaying ? "replay.pause" : "replay.play")}
          onClick=${() => (isPlaying ? pause() : tried(play))} /></span>
      <span class="bar-earlier">
        <${IconButton} kind="quiet" small icon="skip-back" label=${t("replay.earlier")}
          disabled=${loading.value} onClick=${loadEarlier} /></span>
      <${Track} />
      <${Options} />
      <${Time} />
    </div>
  </section>`;
}

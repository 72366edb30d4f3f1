// Time travel: which moment is shown, moving it, and coming back. Nothing here changes anything on the hub, and the
// live picture is folded on underneath. The moment stands in the address, so it survives a reload.

import { batch, effect, signal } from "../vendor/ui.js";
import { apply, copy, open } from "../model/fold.js";
import { moment, past, recent, RECENT } from "../model/store.js";
import { get, Refused } from "./api.js";
import { t } from "../i18n.js";
import { route, set } from "../shell/router.js";
import { toast } from "../ui/overlays.js";

// Stretches of the log for time travel. A reel is a picture that the hub stored, the keyframe, and what followed it.
// A few are kept, each with a picture every 500 activities, so that any moment in it is folded from close by.

/**
 * @typedef {object} Reel
 * @property {number} startId  the last activity that is in the keyframe
 * @property {number} startAt
 * @property {number} endId  up to where it goes; where another project had the last word, that was its activity
 * @property {import("../model/fold.js").Activity[]} activities  what followed, oldest first, with patches
 * @property {Map<number, number>} index  where an activity stands in it, by its id
 * @property {import("../model/fold.js").Picture[]} pictures  after 0, 500, 1000 … activities
 * @property {Set<number>} seen  activities that are in the keyframe already
 * @property {boolean} earlier  whether the log goes back further
 */

const APART = 500;
const KEPT = 5;

/** The reels that are in memory, oldest first. @type {{value: Reel[]}} */
export const reels = signal([]);

/** The reel in which an activity is, if it is in memory. @returns {Reel|undefined} */
const holding = (id) =>
  reels.value.find((reel) => reel.index.has(id)) ?? reels.value.find((reel) => [reel.startId, reel.endId].includes(id));

/** The reel before another, if it is in memory. @returns {Reel|undefined} */
const preceding = (reel) =>
  reels.value.find((each) => each.startId !== reel.startId && each.endId === reel.startId);

/**
 * Fetch the reel that ends with an activity, or now, and keep it instead of what it covers.
 * @param {number} [until]
 * @returns {Promise<Reel>}
 */
export async function fetchReel(until) {
  const reel = threaded(await get("/replay", { until }), until);
  const others = reels.value.filter((each) => each.startId !== reel.startId);
  const sorted = [...others, reel].sort((a, b) => a.startAt - b.startAt || a.startId - b.startId);
  reels.value = nearest(sorted, sorted.indexOf(reel));
  return reel;
}

/** No more than KEPT of them, those around the one that is looked at. */
function nearest(sorted, wanted) {
  const first = Math.max(0, Math.min(wanted - Math.floor(KEPT / 2), sorted.length - KEPT));
  return sorted.slice(first, first + KEPT);
}

function threaded({ start, activities, earlier }, until) {
  const reel = {
    startId: start.id,
    startAt: start.at,
    endId: until ?? activities.at(-1)?.id ?? start.id,
    activities,
    index: new Map(activities.map(({ id }, place) => [id, place])),
    pictures: [],
    seen: new Set(start.seen),
    earlier,
  };
  const picture = open(start.picture);
  activities.forEach((activity, place) => {
    if (place % APART === 0) reel.pictures.push(copy(picture));
    if (!reel.seen.has(activity.id)) apply(picture, activity);
  });
  if (!activities.length) reel.pictures.push(picture);
  return reel;
}

/**
 * The place of an activity in the reel; -1 is the keyframe itself. An activity of another project, with which a reel
 * may end, is in none: the last of ours had happened by then.
 */
const placeOf = (reel, id) => reel.index.get(id) ?? (id === reel.endId ? reel.activities.length - 1 : -1);

/** The moment of a place, `{id, at}`. */
function momentAt(reel, place) {
  const activity = reel.activities[place];
  return activity ? { id: activity.id, at: activity.at } : { id: reel.startId, at: reel.startAt };
}

/** What the project looked like just after the activity at that place. @returns {import("../model/fold.js").Picture} */
export function pictureAt(reel, place) {
  const nearest = Math.min(Math.floor((place + 1) / APART), reel.pictures.length - 1);
  const picture = copy(reel.pictures[nearest]);
  for (const activity of reel.activities.slice(nearest * APART, place + 1)) {
    if (!reel.seen.has(activity.id)) apply(picture, activity);
  }
  return picture;
}

/** Whether the past runs on by itself. */
export const playing = signal(false);

/** How fast it runs: so many times as fast as usual. */
export const speed = signal(1);
export const SPEEDS = [0.5, 1, 2, 4, 8];

/** Whether idle time is squeezed, on the bar and in how fast it runs. */
export const squeezed = signal(false);

const USUAL = 0.9; // of all gaps between two activities are shorter than what is usual
const TIMES_USUAL = 3; // and none is longer than so many times that where idle time is squeezed
const SHORT = 1_000; // milliseconds that no gap is squeezed to less than

/** How long a gap may be where idle time is squeezed. @param {ArrayLike<number>} times in their order */
export function longestGap(times) {
  const gaps = Array.from(times, (at, place) => at - (times[place - 1] ?? at)).sort((one, other) => one - other);
  return Math.max(SHORT, TIMES_USUAL * (gaps[Math.floor(USUAL * (gaps.length - 1))] ?? 0));
}

/** Whether a stretch of the log is being fetched. */
export const loading = signal(false);

const PLAYED_IN = 60_000; // a reel takes a minute, however long it took
const WORTH_PLAYING = 200; // activities; where there are fewer, the stretch before is played too
const LONGEST_GAP = 1_000;
const ADDRESS_AFTER = 200; // browsers limit how often the address may change

let reel = null; // the one that is looked at
let place = -1; // and where in it
let wanted = null; // the last moment that was asked for, while it is fetched
let addressTimer;

/** Show the moment just after an activity. Throws Refused if the hub cannot tell it. */
export async function seek(id) {
  wanted = id;
  let found = holding(id);
  if (!found && newerThanAll(id)) {
    await load();
    found = holding(id);
  }
  found ??= await load(id);
  if (wanted === id) show(found, placeOf(found, id));
}

/** Go some activities on, or back if negative; from live, back from now. Past the last one is live. */
export async function step(count) {
  pause();
  if (!moment.value) {
    if (count > 0) return;
    await fromNow();
  }
  const target = place + count;
  if (target >= -1 && target < reel.activities.length) show(reel, target);
  else if (target < -1) await before(target);
  else await after(target - reel.activities.length);
}

/** Let the past run, from where it is; from live, the latest stretch of it. */
export async function play() {
  if (playing.value) return;
  if (!moment.value) {
    await fromNow();
    if (reel.activities.length < WORTH_PLAYING && reel.earlier) reel = await load(reel.startId);
    show(reel, -1);
  }
  playing.value = true;
  let { at } = moment.value;
  let last = performance.now();
  const next = async (frame) => {
    if (!playing.value) return;
    at = timeAfter(at, Math.max(0, frame - last));
    last = frame;
    if (!advance(at)) await after(0);
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

/** From the first activity that is loaded on, without idle time. */
export async function playFromStart() {
  squeezed.value = true;
  await seek(recent.value[0].id);
  await play();
}

/** What time it is in the past when so much has passed here; where nothing happened for long, time hurries. */
function timeAfter(at, passed) {
  const rate = Math.max(1, lengthOf(reel) / PLAYED_IN);
  const upcoming = reel.activities[place + 1]?.at ?? at;
  return Math.max(at + passed * rate * speed.value, upcoming - LONGEST_GAP * rate);
}

export function pause() {
  playing.value = false;
}

/** Leave the past. */
export function toLive() {
  pause();
  wanted = null;
  batch(() => {
    moment.value = null;
    past.value = null;
    recent.value = recent.value.slice(-RECENT);
  });
  remember();
}

/** Load the stretch before the oldest that is there. Says whether there was one. */
export async function earlier() {
  const oldest = reels.value[0] ?? (await load());
  if (!oldest.earlier) return false;
  await load(oldest.startId);
  return true;
}

/** Follow the address: at the start, and with the back button. */
export function restore() {
  effect(() => {
    const at = Number(route.value.query.at ?? 0);
    const shown = moment.peek()?.id ?? 0;
    if (at === shown || addressTimer) return;
    if (at > 0) seek(at).then(playIfAsked, giveUp);
    else if (moment.peek()) toLive();
  });
}

/** An address may ask to let the past run from its moment on, as the link of the demo does; a reload does not again. */
function playIfAsked() {
  if (!route.value.query.play) return;
  squeezed.value = true;
  set({ play: null }, { replace: true });
  play();
}

/** The log does not go back that far, or never had such a moment. */
function giveUp(error) {
  toLive();
  if (!(error instanceof Refused)) throw error;
  toast(t("errors.no_moment"), { kind: "error" });
}

function show(which, where) {
  reel = which;
  place = where;
  batch(() => {
    past.value = pictureAt(which, where);
    moment.value = momentAt(which, where);
  });
  remember();
}

/** Write the moment into the address, once it stands still. */
function remember() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    addressTimer = undefined;
    set({ at: moment.value?.id ?? null }, { replace: true });
  }, ADDRESS_AFTER);
}

async function load(until) {
  loading.value = true;
  try {
    const fetched = await fetchReel(until);
    lay(fetched);
    return fetched;
  } finally {
    loading.value = false;
  }
}

/** Put what a reel tells of among the activities that are known, each once and in order. */
function lay({ activities }) {
  const known = new Set(recent.value.map(({ id }) => id));
  const missing = activities.filter(({ id }) => !known.has(id)).map(({ patch, ...activity }) => activity);
  if (!missing.length) return;
  recent.value = [...missing, ...recent.value].sort((a, b) => a.at - b.at || a.id - b.id);
}

const newerThanAll = (id) => !reels.value.length || id > momentOfEnd(reels.value.at(-1)).id;
const momentOfEnd = (which) => momentAt(which, which.activities.length - 1);
/** How long a reel is, without what is squeezed. */
function lengthOf(which) {
  if (!squeezed.value) return momentOfEnd(which).at - which.startAt;
  const times = which.activities.map(({ at }) => at);
  const longest = longestGap(times);
  return times.reduce((sum, at, place) => sum + Math.min(longest, at - (times[place - 1] ?? at)), 0);
}

/** Stand at the end of the log as it is now. */
async function fromNow() {
  reel = await load();
  place = reel.activities.length - 1;
}

/** Move on to the last activity that had happened by then. Says false at the end of the reel. */
function advance(time) {
  let target = place;
  while (reel.activities[target + 1]?.at <= time) target += 1;
  if (target !== place) show(reel, target);
  return target + 1 < reel.activities.length;
}

/** Go on in the reel before this one; stop at the beginning of the log. */
async function before(target) {
  if (!reel.earlier) return show(reel, -1);
  const previous = preceding(reel) ?? (await load(reel.startId));
  return show(previous, Math.max(-1, previous.activities.length + target));
}

/** Go on in what followed this reel; where nothing did, that is live. */
async function after(further) {
  const end = momentOfEnd(reel).id;
  const goesOn = (which) => which.startId === end || which.index.has(end);
  let next = await load();
  while (!goesOn(next) && next.earlier) next = await load(next.startId);
  const target = placeOf(next, end) + 1 + further;
  if (target < next.activities.length) show(next, target);
  else toLive();
}

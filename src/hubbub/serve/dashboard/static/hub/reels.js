// Stretches of the log for time travel. A reel is a picture that the hub stored, the keyframe, and what followed it.
// A few are kept, each with a picture every 500 activities, so that any moment in it is folded from close by.

import { signal } from "../vendor/ui.js";
import { apply, copy, open } from "../model/fold.js";
import { get } from "./api.js";

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
export const holding = (id) =>
  reels.value.find((reel) => reel.index.has(id)) ?? reels.value.find((reel) => [reel.startId, reel.endId].includes(id));

/** The reel before another, if it is in memory. @returns {Reel|undefined} */
export const preceding = (reel) =>
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
  reels.value = kept(sorted, sorted.indexOf(reel));
  return reel;
}

/** No more than KEPT of them, those around the one that is looked at. */
function kept(sorted, wanted) {
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
export const placeOf = (reel, id) => reel.index.get(id) ?? (id === reel.endId ? reel.activities.length - 1 : -1);

/** The moment of a place, `{id, at}`. */
export function momentAt(reel, place) {
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

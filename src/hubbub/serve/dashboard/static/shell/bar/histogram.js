// How much happened when: the log that is loaded, as bars of equal time. Pure.
import { BAD } from "../../model/kinds.js";

export const BUCKETS = 160;
const TALLEST = 20;
const FLOOR = 24; // where the bars stand; above them is the line of red marks
const LOWEST = 1.5;

/**
 * When each happened, never later than what follows it: clocks of hubs differ, the order of the log counts.
 * @param {{at: number}[]} activities in the order of the log
 */
export function timesOf(activities) {
  const times = new Float64Array(activities.length);
  let least = Infinity;
  for (let place = activities.length - 1; place >= 0; place -= 1) {
    least = Math.min(least, activities[place].at);
    times[place] = least;
  }
  return times;
}

/**
 * How many activities are in each stretch, and in which of them something went wrong.
 * @param {{kind: string}[]} activities @param {Float64Array} times of them
 * @param {{from: number, to: number}} range milliseconds
 */
export function bucketed(activities, times, { from, to }) {
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
export function bars(counts, first, end) {
  const most = Math.max(1, ...counts);
  let path = "";
  for (let bucket = first; bucket < end; bucket += 1) {
    if (!counts[bucket]) continue;
    const height = Math.max(LOWEST, TALLEST * Math.sqrt(counts[bucket] / most)).toFixed(1);
    path += `M${bucket + 0.1} ${FLOOR}v-${height}h.8V${FLOOR}z`;
  }
  return path;
}

/** The marks above what went wrong. @param {Set<number>} bad */
export const marks = (bad) => [...bad].map((bucket) => `M${bucket - 0.2} 0h1.4v2h-1.4z`).join("");

/**
 * The last activity that had happened by then, as its place; -1 before the first.
 * @param {Float64Array} times @param {number} at
 */
export function placeAt(times, at) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Moving through the log from the bar; a refusal is told as everywhere.
import { earlier, seek, toLive } from "../../hub/replay.js";
import { recent } from "../../model/moment.js";
import { t } from "../../words.js";
import { toast } from "../../ui/toasts.js";
import { placeAt, timesOf } from "./histogram.js";

const AT_THE_END = 0.995; // of the width: there it is now

let before = Promise.resolve();

/** Move, once all moves before are done: keys come faster than the log is fetched. @param {() => any} move */
export function tried(move) {
  before = before.then(() => attempted(move));
  return before;
}

async function attempted(move) {
  try {
    return await move();
  } catch (error) {
    if (error.name !== "Refused") throw error;
    toast(error.message || t("errors.unreachable"), { kind: "error" });
    return null;
  }
}

/**
 * Show the moment at a share of the bar's length, 0 to 1.
 * @param {number} share @param {{from: number, to: number}} range
 */
export function seekShare(share, { from, to }) {
  const activities = recent.value;
  if (share >= AT_THE_END || !activities.length) return toLive();
  const place = Math.max(0, placeAt(timesOf(activities), from + share * (to - from)));
  return attempted(() => seek(activities[place].id)); // the last place that was dragged to counts
}

/** To the first activity that is loaded. */
export function toBeginning() {
  const first = recent.value[0];
  return first && tried(() => seek(first.id));
}

/** Load the stretch of the log before; says so where there is none. */
export async function loadEarlier() {
  const was = await tried(earlier);
  if (was === false) toast(t("replay.beginning"));
}

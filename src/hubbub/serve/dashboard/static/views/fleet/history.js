// What happened in the last 90 minutes, as far as it goes beyond the few hundred activities that the page begins with.

import { signal, useEffect } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { hubNow, loaded, moment, recent } from "../../model/moment.js";

const SPAN = 90 * 60_000; // milliseconds
const PAGE = 500;
const PAGES = 7; // a busier hub shows less than 90 minutes rather than loading for long

/** Before the first of `recent`, oldest first. */
const earlier = signal([]);
let fetched = false;

/** All that is known, oldest first, without asking to be told of more. */
export function activities() {
  const known = recent.peek();
  if (moment.peek() || earlier.value.length === 0) return known;
  const first = known[0]?.id ?? Infinity;
  return [...earlier.value.filter(({ id }) => id < first), ...known];
}

/** Load what is missing, once. */
export function useHistory() {
  const isReady = loaded.value && !moment.value;
  useEffect(() => {
    if (!isReady || fetched) return;
    fetched = true;
    load().catch(() => (fetched = false)); // the next visit tries again
  }, [isReady]);
}

async function load() {
  const since = hubNow() - SPAN;
  for (let page = 0; page < PAGES; page++) {
    const oldest = earlier.peek()[0] ?? recent.peek()[0];
    if (!oldest || oldest.at < since) return;
    const { activity } = await read.activity({ before: oldest.id, limit: PAGE });
    if (activity.length === 0) return;
    earlier.value = [...activity.reverse(), ...earlier.peek()];
  }
}

// What needs a person, kept ready for the screen, the badge and the notifications.

import { computed, signal } from "../vendor/ui.js";
import { agents, approvals, letters, now, overlaps, recent, shown, tasks } from "./moment.js";
import { missed, needs } from "./needs.js";

const STEP = 5_000; // milliseconds: what is late or over need not be known to the second

const coarse = computed(() => Math.floor(now.value / STEP) * STEP);

/** The keys of those that who looks here has dealt with: nobody else has to know. */
export const settled = signal(new Set());

let last = [];
/** The same list until another question expires, or time is over for one. */
const expired = computed(() => {
  const found = missed(recent.value, coarse.value);
  const isSame = found.length === last.length && found.every(({ id }, place) => id === last[place].id);
  return isSame ? last : (last = found);
});

/** Anew only when something changed of which needs are made. @type {{value: import("./needs.js").Need[]}} */
export const waiting = computed(() => {
  for (const noun of [tasks, agents, approvals, letters, overlaps]) noun.value;
  const all = needs(shown.peek(), coarse.value, expired.value);
  return settled.value.size ? all.filter(({ key }) => !settled.value.has(key)) : all;
});

/** One of them by its key. */
export const needOf = (key) => waiting.peek().find((need) => need.key === key);

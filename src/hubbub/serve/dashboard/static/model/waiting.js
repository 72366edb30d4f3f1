// What needs a person, kept ready for the screen, the badge and the notifications.

import { computed } from "../vendor/ui.js";
import { agents, approvals, letters, now, overlaps, shown, tasks } from "./moment.js";
import { needs } from "./needs.js";

const STEP = 5_000; // milliseconds: what is late or over need not be known to the second

const coarse = computed(() => Math.floor(now.value / STEP) * STEP);

/** Anew only when something changed of which needs are made. @type {{value: import("./needs.js").Need[]}} */
export const waiting = computed(() => {
  for (const noun of [tasks, agents, approvals, letters, overlaps]) noun.value;
  return needs(shown.peek(), coarse.value);
});

/** One of them by its key. */
export const needOf = (key) => waiting.peek().find((need) => need.key === key);

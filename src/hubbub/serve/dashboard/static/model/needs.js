// What needs a person: the first screen, the badge, the notifications. The hub says it, each card its own: why, and
// from when until when. Here that is compared with the clock and put beside the cards that belong to it.

import { computed, signal } from "../vendor/ui.js";
import { currentTask, heldBy } from "./states.js";
import { accounts, agents, approvals, budgets, letters, now, overlaps, shown, stops, tasks } from "./store.js";

/** @typedef {"stopped"|"budget"|"paused"|"expired"|"stale"|"conflict"|"failed"|"late"} OtherKind */
/** @typedef {"approval"|"question"|"letter"|"review"|OtherKind} NeedKind */
/**
 * @typedef {object} Need
 * @property {string} key  stays the same for as long as it is the same need
 * @property {NeedKind} kind
 * @property {number} rank  the smaller, the more urgent
 * @property {number} since
 * @property {string} of  the noun and the key of its card, as in `pending`
 * @property {import("./fold.js").Task} [task]
 * @property {import("./fold.js").Agent} [agent]
 * @property {import("./fold.js").Approval} [approval]
 * @property {import("./fold.js").Letter} [letter]
 * @property {import("./fold.js").Overlap} [overlap]
 * @property {import("./fold.js").Budget} [budget]
 * @property {import("./fold.js").Account} [account]  the one whose pause left nobody who goes on
 * @property {import("./fold.js").Stop} [stop]
 * @property {import("./fold.js").Task[]} [held]  of a stale agent: the work it had begun
 */

/** Noun → how the card is looked at beside others. */
const BESIDE = {
  approvals: (approval, picture) => ({
    approval, agent: picture.agents.get(approval.who), task: currentTask(approval.who, picture),
  }),
  letters: (letter, picture) => ({ letter, agent: picture.agents.get(letter.sender) }),
  agents: (agent, picture) => {
    const held = agent.need.kind === "stale" ? heldBy(agent.name, picture) : [];
    return { agent, held, task: held[0] };
  },
  tasks: (task, picture) => ({ task, agent: picture.agents.get(task.assignee) }),
  overlaps: (overlap) => ({ overlap }),
  budgets: (budget) => ({ budget }),
  accounts: (account) => ({ account }),
  stops: (stop, picture) => ({ stop, agent: picture.agents.get(stop.agents[0]) }),
};

const STEP = 5_000; // milliseconds: what is late or over need not be known to the second

/** What needs a person at that moment, the most urgent first. @returns {Need[]} */
export function needs(picture, at) {
  const found = [];
  for (const [noun, beside] of Object.entries(BESIDE)) {
    for (const [key, card] of picture[noun]) {
      const { need } = card;
      if (!need || need.since > at || (need.until !== null && need.until <= at)) continue;
      found.push({ key: `${need.kind}:${key}`, of: `${noun}\n${key}`, ...need, ...beside(card, picture) });
    }
  }
  return found.sort((a, b) => a.rank - b.rank || a.since - b.since || (a.key < b.key ? -1 : 1));
}

const coarse = computed(() => Math.floor(now.value / STEP) * STEP);

/** The keys of those that who looks here has dealt with: nobody else has to know. */
export const settled = signal(new Set());

/**
 * Anew only when something changed of which needs are made.
 * @type {import("../vendor/ui.js").ReadonlySignal<Need[]>}
 */
export const waiting = computed(() => {
  for (const noun of [tasks, agents, approvals, letters, overlaps, accounts, budgets, stops]) noun.value;
  const all = needs(shown.peek(), coarse.value);
  return settled.value.size ? all.filter(({ key }) => !settled.value.has(key)) : all;
});

/** One of them by its key. */
export const needOf = (key) => waiting.peek().find((need) => need.key === key);

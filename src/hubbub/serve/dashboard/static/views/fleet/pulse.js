// How much each agent did in the last 90 minutes, per three of them: what the small bars of the fleet show. Pure.

const BUCKET = 3 * 60_000; // milliseconds
const BUCKETS = 30;

/** Signs of life, and what was done to an agent: no evidence that it works. */
const NO_WORK = new Set(["agent.heartbeat", "agent.met", "agent.checkin", "agent.checkout", "agent.timeout",
  "token.created", "token.revoked"]);

const NOTHING = Object.freeze(Array(BUCKETS).fill(0));

/**
 * @param {object[]} activities oldest first
 * @param {Map<string, object>} agents who is asked about
 * @param {number} now
 * @param {Map<string, number[]>} before the last answer: rows that did not change are the same objects in the next
 * @returns {Map<string, number[]>} counts by agent, oldest first
 */
export function pulses(activities, agents, now, before = new Map()) {
  const end = Math.ceil(now / BUCKET) * BUCKET;
  const start = end - BUCKETS * BUCKET;
  const found = new Map();
  for (let index = activities.length - 1; index >= 0 && activities[index].at >= start; index--) {
    const { at, kind, actor, agent } = activities[index];
    const who = agents.has(actor) ? actor : agent;
    if (at > now || NO_WORK.has(kind) || !agents.has(who)) continue;
    if (!found.has(who)) found.set(who, [...NOTHING]);
    found.get(who)[Math.floor((at - start) / BUCKET)] += 1;
  }
  for (const [name, counts] of found) {
    const old = before.get(name);
    if (old && counts.every((count, index) => count === old[index])) found.set(name, old);
  }
  return found;
}

export const pulseOf = (found, name) => found.get(name) ?? NOTHING;

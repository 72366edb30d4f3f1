// The fold: what a project looks like, made from its activity log. One rule serves the live view and time travel.
//
// A picture has one map for each noun. An activity may carry a patch, `{noun: {key: card | null}}`: the cards as
// they are after what happened, null where there is none any more. Applying it sets or deletes, and nothing else;
// but a key is never overwritten by an activity with a smaller id than the one that wrote it, since the log may
// tell of two racing changes of one card in the other order.
//
// Cards are replaced, never changed: who holds the same object sees the same card. No DOM, no network in here.

/**
 * @typedef {object} Task
 * @property {string} id
 * @property {number} number
 * @property {string} title
 * @property {string} status  queued delivered accepted working blocked in_review completed failed cancelled expired
 * @property {"critical"|"high"|"medium"|"low"} priority
 * @property {string} sender
 * @property {string|null} assignee
 * @property {string|null} area
 * @property {string|null} issue
 * @property {string|null} run_id
 * @property {string|null} parent_id
 * @property {string[]} depends_on
 * @property {number} attempt
 * @property {string[]|null} files
 * @property {string|null} note  what was said last: why it is blocked, failed, released
 * @property {number} created_at  all moments are Unix milliseconds, null while they have not come
 * @property {number} updated_at
 * @property {number|null} delivered_at
 * @property {number|null} accepted_at
 * @property {number|null} started_at
 * @property {number|null} ended_at
 * @property {number|null} expires_at
 */

/**
 * @typedef {object} Agent
 * @property {string} name
 * @property {string} condition  working idle blocked error waiting offline
 * @property {string|null} doing
 * @property {boolean} live
 * @property {string|null} end_reason  "silent": it stopped reporting
 * @property {number|null} progress  percent
 * @property {string|null} runtime
 * @property {string|null} model
 * @property {string|null} machine
 * @property {string|null} area
 * @property {string[]|null} files  where it says it works
 * @property {number|null} since
 * @property {number|null} ended_at
 */

/** @typedef {{name: string, platform: string, version: string, labels: object, sandbox: string,
 *    runtime: string|null, online: boolean, first_seen_at: number}} Machine */
/** @typedef {{id: string, who: string, node: string, tool: string, kind: string, shown: string, reason: string,
 *    dangerous: boolean, created_at: number, expires_at: number}} Approval */
/** @typedef {{id: string, message_id: string, number: number, sender: string, recipient: string, text: string,
 *    in_reply_to: string|null, thread: string|null, intent: string|null, created_at: number}} Letter */
/** @typedef {{agents: string[], files: string[], areas: string[]}} Overlap */

/**
 * @typedef {object} Picture
 * @property {Map<string, Task>} tasks  by id
 * @property {Map<string, Agent>} agents  by name
 * @property {Map<string, Machine>} machines  by name
 * @property {Map<string, Approval>} approvals  by id; only what waits for an answer
 * @property {Map<string, Letter>} letters  by id of the delivery
 * @property {Map<string, Overlap>} overlaps  by "A\nB"
 * @property {Map<string, number>} written  which activity wrote a card, by noun and key
 */

/** @typedef {{id: number, at: number, kind: string, actor: string|null, agent: string|null,
 *    task_id: string|null, message_id: string|null, detail: object|null, patch?: object|null}} Activity */

/** So many ended tasks are in a snapshot; older ones are history, which REST tells of. */
const ENDED = 1000;

export const NOUNS = ["tasks", "agents", "machines", "approvals", "letters", "overlaps"];

/** A picture as the hub tells it, `{noun: {key: card}}`; without one the empty picture. @returns {Picture} */
export function open(cards = {}) {
  const picture = { written: new Map() };
  for (const noun of NOUNS) picture[noun] = new Map(Object.entries(cards[noun] ?? {}));
  return picture;
}

/**
 * Let one activity happen in the picture, which is changed; the nouns that changed are added to `changed`.
 * @param {Picture} picture
 * @param {Activity} activity
 * @param {Set<string>} [changed]
 */
export function apply(picture, activity, changed) {
  for (const [noun, cards] of Object.entries(activity.patch ?? {})) {
    const map = picture[noun];
    if (!map || !NOUNS.includes(noun)) continue; // a newer hub knows more
    for (const [key, card] of Object.entries(cards)) {
      const place = `${noun}\n${key}`;
      if ((picture.written.get(place) ?? 0) > activity.id) continue;
      picture.written.set(place, activity.id);
      if (card === null) map.delete(key);
      else map.set(key, card);
    }
    changed?.add(noun);
  }
}

/**
 * Another picture with the same cards. Maps of nouns that are not in `changed` are taken from `last`, the copy
 * before, so that whoever compares maps sees what did not change.
 * @param {Picture} picture
 * @param {Set<string>} [changed]
 * @param {Picture} [last]
 * @returns {Picture}
 */
export function copy(picture, changed, last) {
  const made = { written: new Map(last ? null : picture.written) };
  for (const noun of NOUNS) {
    made[noun] = last && !changed.has(noun) ? last[noun] : new Map(picture[noun]);
  }
  return made;
}

/** Let go of ended tasks that no snapshot would have any more, the oldest first, once they are many. */
export function forget(picture) {
  const ended = [...picture.tasks.values()].filter((task) => task.ended_at !== null);
  if (ended.length < 1.5 * ENDED) return;
  ended.sort((a, b) => b.ended_at - a.ended_at);
  for (const task of ended.slice(ENDED)) {
    picture.tasks.delete(task.id);
    picture.written.delete(`tasks\n${task.id}`);
  }
}

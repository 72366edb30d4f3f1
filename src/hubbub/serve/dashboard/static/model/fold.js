// The fold: what a project looks like, made from its activity log. One rule serves the live view and time travel.
//
// A picture has one map for each noun. An activity may carry a patch, `{noun: {key: card | null}}`: the cards as
// they are after what happened, null where there is none any more. Applying it sets or deletes, and nothing else;
// but a key is never overwritten by an activity with a smaller id than the one that wrote it, since the log may
// tell of two racing changes of one card in the other order.
//
// Cards are replaced, never changed: who holds the same object sees the same card. No DOM, no network in here.

// The cards, as the hub declares them: made by `make docs`.
/**
 * @typedef {object} Task
 * @property {string} id
 * @property {number} number  counted in the project, from 1
 * @property {string} title
 * @property {string} status
 * @property {string} state  the status as people see it
 * @property {object|null} need  the reason why a person is needed, and its beginning
 * @property {string[]} may  the verbs that are possible now, for people who may write
 * @property {"critical"|"high"|"medium"|"low"} priority
 * @property {string} sender
 * @property {string|null} author  the person, if the sender is `hub`, the name of every caller without one
 * @property {string|null} assignee  null: any agent may claim it
 * @property {string|null} area  its area of the project
 * @property {string|null} issue  its GitHub issue, as owner/repository#number
 * @property {string|null} run_id
 * @property {string|null} parent_id
 * @property {string[]} depends_on  the tasks that must be completed before it may be claimed
 * @property {number} attempt  1 for the first delivery; rises with retries and redeliveries
 * @property {string[]|null} files  the files changed for it; cut
 * @property {string|null} note  the last reason for its status: why it is blocked, or was released
 * @property {number} created_at
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
 * @property {string} state  its state as people see it: its condition, unless something says more
 * @property {object|null} need  the reason why a person is needed, and its beginning
 * @property {string[]} may  the verbs that are possible now, for people who may write
 * @property {string[]} holds  the tasks that it has begun, the current one first
 * @property {"working"|"idle"|"blocked"|"error"|"waiting"|"offline"} condition  its own report of its state
 * @property {string|null} doing  cut
 * @property {boolean} live  true while it is there
 * @property {string|null} end_reason  left, replaced, or silent (it stopped reporting)
 * @property {number|null} progress  percent
 * @property {string|null} runtime
 * @property {string|null} model
 * @property {string|null} machine  the machine that it runs on, if known
 * @property {string|null} area  the area in which it has declared to work, while it is there
 * @property {string[]|null} files  the files that it has declared; cut
 * @property {number|null} since  the start of its present condition
 * @property {number|null} ended_at
 * @property {string|null} account  the account that it shares with others, if known
 */
/**
 * @typedef {object} Machine
 * @property {string} name
 * @property {string} platform
 * @property {string} version
 * @property {string[]} labels
 * @property {string} sandbox  the sandbox of its commands: bwrap, landlock or none
 * @property {string|null} runtime  the agent that can be asked there; null: none
 * @property {boolean} online  the last word of the log
 * @property {number} first_seen_at
 */
/**
 * @typedef {object} Approval
 * @property {string} id
 * @property {object} need  the reason why a person is needed
 * @property {string[]} may  the possible answers
 * @property {"read"|"write"|"manage"} right  the right needed to answer
 * @property {string} who  the caller
 * @property {string} node  the machine; if a program with a token asked, `{who}@{said_node}`
 * @property {string|null} said_node  the machine, by the word of a program with a token; null: the machine asked
 * @property {string} tool
 * @property {string} kind  the subject: one call, or a new rule of the policy
 * @property {string} folder
 * @property {string} shown  the resolved words of the call, in its lines, invisible characters written out
 * @property {string} reason
 * @property {boolean} dangerous  true if the machine always asks about such a call
 * @property {number} created_at
 * @property {number} expires_at
 */
/**
 * @typedef {object} Letter
 * @property {string} id  the id of the inbox row
 * @property {object} need
 * @property {string} message_id
 * @property {number} number
 * @property {string} sender
 * @property {string|null} author  the person, if the sender is `hub`
 * @property {string} recipient  `hub`, or a member by their name
 * @property {string|null} addressee  the person, if the recipient is `hub` and one of the people is meant
 * @property {string} text  cut, without secrets
 * @property {string|null} in_reply_to  a task or a message
 * @property {string|null} thread
 * @property {"text"|"status"|"request"|null} intent
 * @property {number} created_at
 */
/**
 * @typedef {object} Overlap
 * @property {string[]} agents  two present agents, sorted
 * @property {string[]} files  the entries that both have declared
 * @property {string[]} areas
 * @property {object} need
 */
/**
 * @typedef {object} Lease
 * @property {string} id
 * @property {number} number  counted in the project; at equal priority the smaller goes first
 * @property {string[]} things  as in a request, such as `port:8000`, `gpu:2`
 * @property {"waiting"|"held"} status
 * @property {string} holder  an agent, or a person
 * @property {string|null} purpose  its purpose, such as a command; cut, without secrets
 * @property {string|null} host  the machine where it is used, by its holder's word
 * @property {"critical"|"high"|"medium"|"low"} priority
 * @property {number|null} fence  rises with each lease that is granted; null while it waits
 * @property {object} units  the units of each counted thing
 * @property {number} asked_at
 * @property {number|null} granted_at  null while it waits
 */
/**
 * @typedef {object} Account
 * @property {string} name
 * @property {number|null} paused_at  null: it is not paused
 * @property {number|null} paused_until  the end of the pause; null while it is paused: a person ends it
 * @property {"window"|"weekly"|"model"|"overloaded"|null} limit_kind  the limit; null if a person paused it
 * @property {string|null} paused_by  the person who paused it, or the agent whose program reported the limit
 * @property {object|null} need  why a person is needed, and from when on
 */
/**
 * @typedef {object} Budget
 * @property {string} id
 * @property {"project"|"agent"|"task"|"token"} kind  the kind of thing whose use it limits
 * @property {string} whom  the agent's name, or the id of the task or token; empty: the project
 * @property {string} label  that thing, as people call it
 * @property {boolean} daily  true if it begins anew each day, in UTC
 * @property {"tokens"|"usd"} unit
 * @property {number} amount  in tokens, or in millionths of a dollar
 * @property {"enough"|"low"|"spent"} level  the level since `level_at`
 * @property {number} level_at  the time when it reached that level
 * @property {object|null} need  the reason why a person is needed, and its beginning
 */
/**
 * @typedef {object} Stop
 * @property {string} id
 * @property {object} need  the reason why a person is needed
 * @property {"answering"|"repeating"|"nesting"|"multiplying"|"retrying"} kind  the rule that they broke
 * @property {string[]} agents  the agents that are stopped
 * @property {number} count  the number of repetitions
 * @property {string} reason  the reason why they are stopped, in one sentence
 * @property {string[]} may  the verbs that people may use
 * @property {string|null} task_id  the task with which it began, if any
 * @property {number} stopped_at
 */
// The end of the cards.

/**
 * @typedef {object} Picture
 * @property {Map<string, Task>} tasks  by id
 * @property {Map<string, Agent>} agents  by name
 * @property {Map<string, Machine>} machines  by name
 * @property {Map<string, Approval>} approvals  by id; only what waits for an answer
 * @property {Map<string, Letter>} letters  by id of the delivery
 * @property {Map<string, Overlap>} overlaps  by "A\nB"
 * @property {Map<string, Account>} accounts  by name
 * @property {Map<string, number>} written  which activity wrote a card, by noun and key
 */

/** @typedef {{id: number, at: number, kind: string, actor: string|null, agent: string|null,
 *    task_id: string|null, message_id: string|null, detail: object|null, patch?: object|null}} Activity */

/** So many ended tasks are in a snapshot; older ones are history, which REST tells of. */
const ENDED = 1000;

export const NOUNS = [
  "tasks", "agents", "machines", "approvals", "letters", "overlaps", "leases", "accounts", "budgets", "stops",
];

/** A picture as the hub tells it, `{noun: {key: card}}`; without one the empty picture. @returns {Picture} */
export function open(cards = {}) {
  const picture = /** @type {Picture} */ ({ written: new Map() });
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
  const made = /** @type {Picture} */ ({ written: new Map(last ? null : picture.written) });
  for (const noun of NOUNS) {
    made[noun] = last && !changed.has(noun) ? last[noun] : new Map(picture[noun]);
  }
  return made;
}

const endedOf = (picture) => [...picture.tasks.values()].filter((task) => task.ended_at !== null);

/** Whether tasks may have ended, at that time or later, of which the picture does not tell: it has the last ones. */
export function hasOlder(picture, since = 0) {
  const ended = endedOf(picture);
  return ended.length >= ENDED && ended.every((task) => task.ended_at > since);
}

/** Let go of ended tasks that no snapshot would have any more, the oldest first, once they are many. */
export function forget(picture) {
  const ended = endedOf(picture);
  if (ended.length < 1.5 * ENDED) return;
  ended.sort((a, b) => b.ended_at - a.ended_at);
  for (const task of ended.slice(ENDED)) {
    picture.tasks.delete(task.id);
    picture.written.delete(`tasks\n${task.id}`);
  }
}

// What waits for a person: the first screen, the badge, the notifications. Made from the picture alone, so it can
// be asked of any moment of the past too.

import { agentState, approvalsOf, currentTask, stateOf, tasksOf, isUnderWay } from "./states.js";

/**
 * @typedef {object} Need
 * @property {string} key  stays the same for as long as it is the same need
 * @property {"approval"|"question"|"letter"|"expired"|"stale"|"conflict"|"failed"|"late"} kind
 * @property {number} at  since when
 * @property {import("./fold.js").Task} [task]
 * @property {import("./fold.js").Agent} [agent]
 * @property {import("./fold.js").Approval} [approval]
 * @property {import("./fold.js").Letter} [letter]
 * @property {import("./fold.js").Overlap} [overlap]
 * @property {import("./fold.js").Task[]} [held]  of a stale agent: the work it had begun
 */

const MINUTE = 60_000;

/** Nobody has begun: half an hour is longer than any wake method needs, so nobody is going to. */
const UNBEGUN_FOR = 30 * MINUTE;
/** Nothing was heard of work that goes on: agents that live say something in an hour. */
const SILENT_FOR = 60 * MINUTE;
/** A failure that nobody took up within a day is history. */
const FAILED_WITHIN = 24 * 60 * MINUTE;

/** Whoever asked and got no answer may still be there to ask again. */
const EXPIRED_WITHIN = 30 * MINUTE;

/** The kinds, the most urgent first: somebody is held up, then work is in danger, then it is lost or late. */
const KINDS = ["approval", "question", "letter", "expired", "stale", "conflict", "failed", "late"];

/**
 * What needs a person, the most urgent first.
 * @param {import("./fold.js").Picture} picture
 * @param {number} now
 * @param {Iterable<import("./fold.js").Approval>} missed  those that were not answered in time
 * @returns {Need[]}
 */
export function needs(picture, now, missed = []) {
  const found = [
    ...approvals(picture, now, missed),
    ...questions(picture),
    ...letters(picture),
    ...stale(picture),
    ...conflicts(picture),
    ...failed(picture, now),
    ...late(picture, now),
  ];
  const rank = (need) => KINDS.indexOf(need.kind);
  return found.sort((a, b) => rank(a) - rank(b) || a.at - b.at || (a.key < b.key ? -1 : 1));
}

function approvals(picture, now, missed) {
  const known = new Map([...missed, ...picture.approvals.values()].map((approval) => [approval.id, approval]));
  return [...known.values()].map((approval) => {
    const kind = approval.expires_at > now ? "approval" : "expired";
    return {
      key: `${kind}:${approval.id}`,
      kind,
      at: kind === "expired" ? approval.expires_at : approval.created_at,
      approval,
      agent: picture.agents.get(approval.who),
      task: currentTask(approval.who, picture),
    };
  });
}

/**
 * What the log tells of questions that nobody answered in time, and that were not asked again since.
 * @param {import("./fold.js").Activity[]} log  oldest first
 */
export function missed(log, now) {
  const found = new Map();
  for (const { kind, at, agent, detail } of log) {
    if (at > now || !kind.startsWith("approval.")) continue;
    const call = [agent, detail.node, detail.shown].join("\n");
    if (kind === "approval.asked" || kind === "approval.withdrawn") found.delete(call);
    else if (kind === "approval.expired" && !detail.answered_by && at > now - EXPIRED_WITHIN) {
      found.set(call, { ...detail, id: detail.approval_id, who: agent });
    }
  }
  return [...found.values()];
}

function questions(picture) {
  const found = [];
  const asked = new Set();
  for (const task of picture.tasks.values()) {
    if (task.status !== "blocked" && stateOf(task, picture) !== "waiting") continue;
    // Of a task that is not blocked the approval is the question.
    if (task.status !== "blocked" && approvalsOf(task.assignee, picture).length) continue;
    asked.add(task.assignee);
    const agent = picture.agents.get(task.assignee);
    const at = task.status === "blocked" ? task.updated_at : Math.max(task.updated_at, agent?.since ?? 0);
    found.push({ key: `question:${task.id}`, kind: "question", at, task, agent });
  }
  for (const agent of picture.agents.values()) {
    if (asked.has(agent.name) || agentState(agent, picture) !== "waiting") continue;
    if (approvalsOf(agent.name, picture).length) continue;
    found.push({ key: `question:${agent.name}`, kind: "question", at: agent.since ?? 0, agent });
  }
  return found;
}

function letters(picture) {
  return [...picture.letters.values()].map((letter) => ({
    key: `letter:${letter.id}`,
    kind: "letter",
    at: letter.created_at,
    letter,
    agent: picture.agents.get(letter.sender),
  }));
}

function stale(picture) {
  return [...picture.agents.values()]
    .filter((agent) => agentState(agent, picture) === "stale")
    .map((agent) => ({
      key: `stale:${agent.name}`,
      kind: "stale",
      at: agent.ended_at ?? 0,
      agent,
      task: currentTask(agent.name, picture),
      held: tasksOf(agent.name, picture).filter(isUnderWay),
    }));
}

function conflicts(picture) {
  const since = (name) => picture.agents.get(name)?.since ?? 0;
  return [...picture.overlaps].map(([pair, overlap]) => ({
    key: `conflict:${pair}`,
    kind: "conflict",
    at: Math.max(...overlap.agents.map(since)),
    overlap,
  }));
}

function failed(picture, now) {
  return [...picture.tasks.values()]
    .filter((task) => task.status === "failed" && (task.ended_at ?? 0) > now - FAILED_WITHIN)
    .map((task) => ({
      key: `failed:${task.id}:${task.attempt}`,
      kind: "failed",
      at: task.ended_at,
      task,
      agent: picture.agents.get(task.assignee),
    }));
}

function late(picture, now) {
  const found = [];
  for (const task of picture.tasks.values()) {
    const at = lateSince(task, picture);
    if (at === null || at > now) continue;
    const agent = picture.agents.get(task.assignee);
    found.push({ key: `late:${task.id}:${task.status}`, kind: "late", at, task, agent });
  }
  return found;
}

/** From when on a task is over-age as it stands; null if it never is. */
function lateSince(task, picture) {
  if (task.status === "queued" || task.status === "delivered") {
    const held = task.depends_on.some((id) => isOpen(picture.tasks.get(id)));
    return held ? null : Math.max(task.updated_at, task.created_at) + UNBEGUN_FOR;
  }
  const agent = picture.agents.get(task.assignee);
  if (stateOf(task, picture) !== "running" || !agent?.live) return null;
  return Math.max(task.updated_at, agent.since ?? 0) + SILENT_FOR;
}

const isOpen = (task) => task !== undefined && task.status !== "completed";

// The table of actions. `request(values, options)` is the call of REST; `shows(values, now, picture)` is what will
// have changed, as far as that is certain: `{noun, key, change(card) -> card | null}`.

import { at, del, patch, post, put } from "./api.js";

/** A change of the task, if it is still there. */
const task = (id, change) => [{ noun: "tasks", key: id, change: (card) => card && { ...card, ...change } }];
const gone = (noun, key) => [{ noun, key, change: () => null }];

const queuedAgain = { accepted_at: null, started_at: null, ended_at: null, note: null };
const ended = (status, note, now) => ({ status, note: note || null, ended_at: now, updated_at: now });

/** An action on one task, whose values are `{task: id, …}`; the others are sent as they are. */
const onTask = (verb, change) => ({
  request: ({ task: id, ...body }, options) => post(at("/tasks", id, `/${verb}`), body, options),
  shows: (values, now, picture) => task(values.task, change(values, now, picture.tasks.get(values.task))),
});

const TASKS = {
  createTask: {
    request: (values, options) => post("/tasks", values, options),
  },
  reassign: onTask("reassign", ({ to }, now) => ({
    ...queuedAgain, status: "delivered", assignee: to, delivered_at: now, updated_at: now,
  })),
  retry: onTask("retry", (_values, now, card) => ({
    ...queuedAgain, status: card?.assignee ? "delivered" : "queued", attempt: (card?.attempt ?? 0) + 1,
    updated_at: now,
  })),
  cancel: onTask("cancel", ({ reason }, now) => ended("cancelled", reason, now)),
  complete: onTask("complete", (_values, now) => ended("completed", null, now)),
  unblock: onTask("unblock", (_values, now) => ({ status: "working", note: null, updated_at: now })),
  approveWork: onTask("approve", (_values, now) => ended("completed", null, now)),
  requestChanges: onTask("request-changes", ({ comment }, now) => ({
    status: "working", note: comment, updated_at: now,
  })),
  release: onTask("release", ({ reason }, now) => ({
    ...queuedAgain, status: "queued", assignee: null, delivered_at: null, note: reason, updated_at: now,
  })),
  comment: {
    request: ({ task: id, text }, options) => post(at("/tasks", id, "/comments"), { text }, options),
  },
};

const MESSAGES = {
  send: { request: (values, options) => post("/messages", values, options) },
  broadcast: { request: (values, options) => post("/broadcasts", values, options) },
  acknowledge: {
    request: ({ letter }, options) => post(at("/agents/hub/inbox", letter, "/ack"), {}, options),
    shows: ({ letter }) => gone("letters", letter),
  },
};

const AGENTS = {
  releaseScope: {
    request: ({ agent, reason }, options) => post(at("/agents", agent, "/release-scope"), { reason }, options),
    shows: ({ agent }, _now, picture) => [
      { noun: "agents", key: agent, change: (card) => card && { ...card, files: null, area: null } },
      ...[...picture.overlaps]
        .filter(([, overlap]) => overlap.agents.includes(agent))
        .flatMap(([pair]) => gone("overlaps", pair)),
    ],
  },
  start: {
    request: ({ agent, ...body }, options) => post(at("/agents", agent, "/start"), body, options),
  },
  stop: { request: ({ agent }, options) => post(at("/agents", agent, "/stop"), {}, options) },
};

const APPROVALS = {
  approve: {
    request: ({ approval, ...body }, options) => post(at("/approvals", approval, "/approve"), body, options),
    shows: ({ approval }) => gone("approvals", approval),
  },
  deny: {
    request: ({ approval }, options) => post(at("/approvals", approval, "/deny"), {}, options),
    shows: ({ approval }) => gone("approvals", approval),
  },
};

const MACHINES = {
  inviteMachine: { request: (values, options) => post("/nodes/invites", values, options) },
  removeMachine: {
    request: ({ machine }, options) => del(at("/nodes", machine), {}, options),
    shows: ({ machine }) => gone("machines", machine),
  },
  run: { request: ({ machine, ...body }, options) => post(at("/nodes", machine, "/run"), body, options) },
  share: { request: (values, options) => post("/shares", values, options) },
  unshare: { request: ({ share }, options) => del(at("/shares", share), {}, options) },
};

const PROJECT = {
  addProject: { request: (values, options) => post("/projects", values, options) },
  changeProject: {
    request: ({ project, ...body }, options) => patch(at("/projects", project), body, options),
  },
  putArea: {
    request: ({ project, area, ...body }, options) => put(at("/projects", project, "/areas", area), body, options),
  },
  putMember: {
    request: ({ project, user, role }, options) =>
      put(at("/projects", project, "/members", user), { role }, options),
  },
  removeMember: {
    request: ({ project, user }, options) => del(at("/projects", project, "/members", user), {}, options),
  },
  addUser: { request: (values, options) => post("/users", values, options) },
  inviteUser: { request: (values, options) => post("/users/invites", values, options) },
  makeToken: { request: (values, options) => post("/tokens", values, options) },
  revokeToken: { request: ({ token }, options) => del(at("/tokens", token), {}, options) },
  addWebhook: { request: (values, options) => post("/webhooks", values, options) },
  removeWebhook: { request: ({ webhook }, options) => del(at("/webhooks", webhook), {}, options) },
  retryDelivery: {
    request: ({ delivery }, options) => post(at("/webhooks/deliveries", delivery, "/retry"), {}, options),
  },
  signOutEverywhere: { request: ({ user }, options) => del("/logins", { user }, options) },
};

/** @type {Record<string, {request: Function, shows?: Function}>} */
export const ACTIONS = { ...TASKS, ...MESSAGES, ...AGENTS, ...APPROVALS, ...MACHINES, ...PROJECT };

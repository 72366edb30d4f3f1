// Every call of REST that the page makes, by its name: what is read, and what a person does. Views know no paths.

import { address, at, del, get, patch, post, put } from "./api.js";

// The table of reads: what the hub is asked beside the picture.

/** Each answers with the hub's JSON, or throws Refused. */
export const read = {
  status: () => get("/status"),
  firstSteps: () => get("/first-steps"),
  activity: (query) => get("/activity", query),
  auditEntries: (query) => get("/audit/entries", query),
  auditHeads: () => get("/audit/heads"),
  cost: (query) => get("/cost", query),
  throughput: (query) => get("/throughput", query),
  budgets: () => get("/budgets"),

  approval: (id) => get(at("/approvals", id)),
  tasks: (query) => get("/tasks", query),
  task: (id) => get(at("/tasks", id), { render: "html" }),
  proof: (id) => get(at("/tasks", id, "/proof")),
  artifact: (id) => get(at("/artifacts", id)),
  /** Why something is as it is. `kind`: task, agent or file */
  why: (ref, kind) => get(at("/why", String(ref)), { kind }),

  agents: () => get("/agents"),
  agent: (name) => get(at("/agents", name)),
  inbox: (agent, query) => get(at("/agents", agent, "/inbox"), query),
  threads: (query) => get("/threads", query),
  deadLetters: (query) => get("/dead-letters", query),
  thread: (id, query) => get(at("/threads", id), { render: "html", ...query }),

  machines: () => get("/nodes"),
  orders: (machine) => get(at("/nodes", machine, "/dispatches")),
  policy: (machine) => get(at("/nodes", machine, "/policy")),
  placements: () => get("/placements"),
  shares: () => get("/shares"),

  project: (slug) => get(at("/projects", slug)),
  merges: () => get("/merges"),
  areas: (slug) => get(at("/projects", slug, "/areas")),
  area: (slug, area) => get(at("/projects", slug, "/areas", area)),
  members: (slug) => get(at("/projects", slug, "/members")),
  users: () => get("/users"),
  tokens: () => get("/tokens"),
  webhooks: () => get("/webhooks"),
  deliveries: () => get("/webhooks/deliveries"),
  logins: () => get("/logins"),
};

/** Addresses of what the browser itself fetches: to keep as a file, or line by line. */
export const link = {
  auditExport: (ending, query) => address(`/audit/entries.${ending}`, query),
  cost: (query) => address("/cost.csv", query),
  backup: () => address("/backup"),
  output: (agent, query) => address(at("/agents", agent, "/logs"), query),
};

// The table of actions. `request(values, options)` is the call of REST; `of(values)` names the card that it is done to,
// `noun\nkey`, which is pending until the hub has told what came of it.

/**
 * An action on one thing, whose id is among the values; the others are sent as they are.
 * @typedef {Record<string, any>} Values
 * @param {string} noun @param {string} name @param {string} way
 */
const on = (noun, name, way) => (verb) => ({
  request: (/** @type {Values} */ { [name]: id, ...body }, options) => post(at(way, id, `/${verb}`), body, options),
  of: (/** @type {Values} */ { [name]: id }) => `${noun}\n${id}`,
});

const onTask = on("tasks", "task", "/tasks");
const onApproval = on("approvals", "approval", "/approvals");

const TASKS = {
  createTask: {
    request: (values, options) => post("/tasks", values, options),
  },
  reassign: onTask("reassign"),
  retry: onTask("retry"),
  cancel: onTask("cancel"),
  complete: onTask("complete"),
  unblock: onTask("unblock"),
  approveWork: onTask("approve"),
  requestChanges: onTask("request-changes"),
  release: onTask("release"),
  waive: onTask("waive"),
  describe: {
    request: ({ task: id, text }, options) => put(at("/tasks", id, "/description"), { text }, options),
    of: ({ task: id }) => `tasks\n${id}`,
  },
  comment: {
    request: ({ task: id, text }, options) => post(at("/tasks", id, "/comments"), { text }, options),
  },
};

const MESSAGES = {
  send: { request: (values, options) => post("/messages", values, options) },
  broadcast: { request: (values, options) => post("/broadcasts", values, options) },
  acknowledge: {
    request: ({ letter }, options) => post(at("/agents/hub/inbox", letter, "/ack"), {}, options),
    of: ({ letter }) => `letters\n${letter}`,
  },
};

const onAccount = on("accounts", "account", "/accounts");

const AGENTS = {
  pauseAccount: onAccount("pause"),
  resumeAccount: onAccount("resume"),
  liftStop: on("stops", "stop", "/breakers/stops")("lift"),
  releaseScope: on("agents", "agent", "/agents")("release-scope"),
  changeAgent: { request: ({ agent, ...body }, options) => patch(at("/agents", agent), body, options) },
  rename: on("agents", "agent", "/agents")("rename"),
  start: {
    request: ({ agent, ...body }, options) => post(at("/agents", agent, "/start"), body, options),
  },
  stop: { request: ({ agent }, options) => post(at("/agents", agent, "/stop"), {}, options) },
  startEcho: { request: (_values, options) => put("/echo", {}, options) },
  removeEcho: { request: (_values, options) => del("/echo", {}, options) },
};

const APPROVALS = { approve: onApproval("approve"), deny: onApproval("deny") };

const MACHINES = {
  inviteMachine: { request: (values, options) => post("/nodes/invites", values, options) },
  removeMachine: {
    request: ({ machine }, options) => del(at("/nodes", machine), {}, options),
    of: ({ machine }) => `machines\n${machine}`,
  },
  run: { request: ({ machine, ...body }, options) => post(at("/nodes", machine, "/run"), body, options) },
  share: { request: (values, options) => post("/shares", values, options) },
  unshare: { request: ({ share }, options) => del(at("/shares", share), {}, options) },
};

const PROJECT = {
  putBudget: { request: (values, options) => put("/budgets", values, options) },
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

/** @type {Record<string, {request: Function, of?: (values: object) => string}>} */
export const ACTIONS = { ...TASKS, ...MESSAGES, ...AGENTS, ...APPROVALS, ...MACHINES, ...PROJECT };

// The table of reads: what the hub is asked beside the picture, by name. Views know no paths of REST: what they read
// is called here, what they do in table.js.

import { address, at, get } from "./api.js";

/** Each answers with the hub's JSON, or throws Refused. */
export const read = {
  status: () => get("/status"),
  activity: (query) => get("/activity", query),
  auditEntries: (query) => get("/audit/entries", query),
  auditHeads: () => get("/audit/heads"),

  approval: (id) => get(at("/approvals", id)),
  tasks: (query) => get("/tasks", query),
  task: (id) => get(at("/tasks", id), { render: "html" }),
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
  backup: () => address("/backup"),
  output: (agent, query) => address(at("/agents", agent, "/logs"), query),
};

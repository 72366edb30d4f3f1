// The kinds of the log, as docs/reference/events.md lists them: to which group each belongs, and which are routine.

/** Group (a chip) -> what the kinds of it begin with, and the icon of its rows. */
export const GROUPS = {
  task: { of: ["task", "check", "completion"], icon: "clipboard-list" },
  agent: { of: ["agent", "todo", "file", "lease", "account", "budget", "breaker"], icon: "bot" },
  message: { of: ["message"], icon: "message-square" },
  approval: { of: ["approval", "terminal"], icon: "shield-check" },
  node: { of: ["node", "placement", "dispatch"], icon: "server" },
  run: { of: ["run", "artifact", "review", "memory", "summary"], icon: "file-text" },
  hub: { of: [], icon: "settings" },
};

/** What comes all the time and says little: hidden unless asked for. */
export const ROUTINE = new Set([
  "agent.heartbeat", "agent.woken", "task.progress", "dispatch.queued", "dispatch.sent", "file.released",
  "lease.released",
]);

/** What a person should not overlook: red in the feed and on the replay bar. */
export const BAD = new Set([
  "agent.timeout", "task.failed", "task.expired", "outbox.dead", "message.dead", "placement.failed", "audit.broken",
]);

/** What waits for somebody: amber. */
export const WAITING = new Set([
  "task.blocked", "task.late", "approval.asked", "approval.denied", "outbox.failed", "node.offline",
]);

const GROUP_OF = new Map(
  Object.entries(GROUPS).flatMap(([group, { of }]) => of.map((noun) => /** @type {const} */ ([noun, group]))),
);

/** The group of a kind; what no other group claims is the hub's. @param {string} kind */
export const groupOf = (kind) => GROUP_OF.get(kind.split(".")[0]) ?? "hub";

const ICONS = {
  "task.sent": "send", "task.delivered": "circle", "task.accepted": "circle-dot", "task.started": "loader",
  "task.blocked": "circle-pause", "task.submitted": "eye", "task.completed": "circle-check",
  "task.failed": "circle-x", "task.cancelled": "circle-slash", "task.expired": "clock", "task.late": "clock",
  "task.retried": "rotate-ccw", "task.reassigned": "corner-down-left",
  "agent.timeout": "wifi-off", "agent.scope_change": "folder-tree",
  "file.claimed": "folder-tree", "file.released": "folder-tree", "file.refused": "ban",
  "account.paused": "clock", "account.resumed": "play", "account.changed": "users", "account.removed": "users",
  "breaker.tripped": "rotate-ccw", "breaker.lifted": "play",
  "budget.low": "timer", "budget.spent": "ban", "budget.put": "timer", "budget.renewed": "timer",
  "lease.granted": "key-round", "lease.waiting": "clock", "lease.released": "key-round",
  "approval.asked": "hand", "approval.denied": "ban", "audit.broken": "shield-alert", "key.set": "key-round",
  "token.created": "key-round", "webhook.added": "webhook", "user.created": "user-plus", "area.put": "map",
};

/** The icon of a row. @param {string} kind */
export const iconOf = (kind) => ICONS[kind] ?? GROUPS[groupOf(kind)].icon;

// The life of a task as steps with times, made from its part of the log: no DOM.

/** What the log says of a task in other words than people see. */
const WORDS = { accepted: "acked", working: "running", in_review: "review", completed: "done" };

const ALONG = ["queued", "delivered", "acked", "running", "blocked", "review"];
const ENDS = new Set(["failed", "cancelled", "expired"]);
const BEGIN_AGAIN = new Set(["task.retried", "task.reassigned", "task.released", "task.reopened"]);

const wordOf = (status) => WORDS[status] ?? status;

/**
 * The steps in their order, the last one being how the task ended or may end.
 * @param {object} task  its card, or the whole of it
 * @param {object[]} activities  of the task, oldest first
 * @param {number} now
 * @returns {{id: string, at: number|null, after: number|null, spent: number, current: boolean}[]}
 *   `at`: when it was reached since the task was last given to somebody; null: not reached, or skipped.
 *   `after`: milliseconds since the step that was reached before it. `spent`: milliseconds in it, all in all
 */
export function stepsOf(task, activities, now) {
  const passed = passages(task, activities);
  const current = wordOf(task.status);
  const reached = new Map();
  const spent = new Map();
  passed.forEach(({ id, at }, index) => {
    const left = passed[index + 1]?.at ?? (task.ended_at ? at : now);
    spent.set(id, (spent.get(id) ?? 0) + Math.max(0, left - at));
    if (!reached.has(id)) reached.set(id, { at, after: index ? at - passed[index - 1].at : null });
  });
  return [...ALONG, ENDS.has(current) ? current : "done"].map((id) => ({
    id, at: null, after: null, ...reached.get(id), spent: spent.get(id) ?? 0, current: id === current,
  }));
}

/** Which steps were reached when, oldest first, since the task was last handed to somebody. */
function passages(task, activities) {
  const passed = [];
  for (const { kind, at, detail } of activities) {
    if (kind === "task.sent" || BEGIN_AGAIN.has(kind)) passed.length = 0;
    const id = wordOf(detail?.after);
    if (id && !passed.length && id !== "queued") passed.push({ id: "queued", at }); // straight into an inbox
    if (id && id !== passed.at(-1)?.id) passed.push({ id, at });
  }
  return passed.length ? passed : fromCard(task);
}

/** The same from what the task itself remembers, for when the log has not been read, or not far enough. */
function fromCard(task) {
  const known = [
    ["queued", task.created_at], ["delivered", task.delivered_at], ["acked", task.accepted_at],
    ["running", task.started_at], [wordOf(task.status), task.ended_at ?? task.updated_at],
  ];
  return known
    .filter(([, at]) => at !== null && at !== undefined)
    .map(([id, at]) => ({ id, at }))
    .filter((each, index, all) => all.findIndex((other) => other.id === each.id) === index);
}

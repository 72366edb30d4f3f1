/**
 * What the graph shows: unfinished tasks that need others or are needed, and two levels of what came before. Pure.
 *
 * An arrow runs from a task to what waits for it. One that only says what a longer way says too is left out
 * (transitive reduction), so that what is to be seen is what must be done next.
 */

import { isEnded } from "../../model/states.js";

const MOST = 500; // nodes; a larger picture is neither readable nor laid out in a moment
const LEVELS = 2; // of ended tasks before the unfinished ones

/**
 * @typedef {{from: string, to: string}} Arrow
 * @typedef {object} Shape
 * @property {string[]} nodes ids of tasks, by number
 * @property {Map<string, string[]>} needs of each node, the nodes that it needs
 * @property {string} key another one exactly if the nodes or their needs are others
 * @property {number} alone unfinished tasks that need nothing and that nothing waits for
 * @property {number} cut tasks beyond the 500 newest
 */

/** Whether what an arrow leads to still waits for what it comes from. */
export const waits = (picture, { from, to }) =>
  picture.tasks.get(from)?.state !== "done" && !isEnded(picture.tasks.get(to));

/** @returns {Shape} */
export function shape(picture) {
  const known = (task) => task.depends_on.filter((id) => picture.tasks.has(id));
  const open = [...picture.tasks.values()].filter((task) => !isEnded(task));
  const needed = new Set(open.flatMap(known));
  const linked = open.filter((task) => needed.has(task.id) || known(task).length > 0);
  const shown = withAncestors(linked, picture);
  const kept = new Map(shown.sort((one, other) => one.number - other.number).slice(-MOST)
    .map((task) => [task.id, task]));
  const needs = new Map();
  for (const [id, task] of kept) needs.set(id, task.depends_on.filter((each) => kept.has(each)));
  return {
    nodes: [...kept.keys()],
    needs,
    key: [...needs].map(([id, ids]) => `${id}<${ids.join()}`).join(";"),
    alone: open.length - linked.length,
    cut: shown.length - kept.size,
  };
}

/**
 * The arrows of a shape, without those that a longer way makes needless.
 * @returns {Arrow[]}
 */
export function arrows(needs) {
  const place = new Map(inOrder(needs).map((id, index) => [id, index]));
  const above = new Map();
  const found = [];
  for (const id of place.keys()) {
    const reached = new Set();
    // A circle, which the hub does not allow, is cut open here rather than followed for ever.
    const before = [...new Set(needs.get(id))].filter((each) => place.get(each) < place.get(id));
    // The nearest first: what is reached through it needs no arrow of its own.
    for (const each of before.sort((one, other) => place.get(other) - place.get(one))) {
      if (reached.has(each)) continue;
      found.push({ from: each, to: id });
      reached.add(each);
      above.get(each).forEach((further) => reached.add(further));
    }
    above.set(id, reached);
  }
  return found;
}

/** A task, everything that it needs, near and far, and everything that waits for it. */
export function connected(edges, id) {
  return new Set([...reach(edges, id, "to", "from"), ...reach(edges, id, "from", "to")]);
}

function reach(edges, start, here, there) {
  const next = new Map();
  for (const edge of edges) next.set(edge[here], [...(next.get(edge[here]) ?? []), edge[there]]);
  const seen = new Set([start]);
  for (const id of seen) (next.get(id) ?? []).forEach((each) => seen.add(each)); // a Set may grow while it is walked
  return seen;
}

function withAncestors(tasks, picture) {
  const shown = new Set(tasks);
  let level = tasks;
  for (let depth = 0; depth < LEVELS; depth++) {
    level = level.flatMap((task) => task.depends_on.map((id) => picture.tasks.get(id)))
      .filter((task) => task && isEnded(task) && !shown.has(task));
    level.forEach((task) => shown.add(task));
  }
  return [...shown];
}

/** The ids in such an order that what a task needs comes before it. */
function inOrder(needs) {
  const done = new Set();
  const begun = new Set();
  for (const root of needs.keys()) {
    const stack = [root];
    while (stack.length > 0) {
      const id = stack[stack.length - 1];
      begun.add(id);
      const missing = needs.get(id).find((each) => !done.has(each) && !begun.has(each));
      if (missing !== undefined) {
        stack.push(missing);
      } else {
        stack.pop();
        done.add(id);
      }
    }
  }
  return [...done];
}

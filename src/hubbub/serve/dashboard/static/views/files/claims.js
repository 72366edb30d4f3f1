/**
 * Who claims what: the rows and columns of the file map, made from a picture. Pure.
 *
 * A row is a file, a pattern as it was written, or an area. A mark says what an agent has to do with it: it edits it
 * (it declared so), what it changed there is in review, or it clashes with another agent there. Which scopes clash is
 * the hub's word (`picture.overlaps`); that two agents wrote the very same entry can be seen without it.
 */
/**
 * @typedef {"editing" | "review" | "clash"} Mark
 * @typedef {{key: string, kind: "file" | "area", name: string, marks: Map<string, Mark>, clash: boolean}} Row
 * @typedef {{rows: Row[], agents: string[], claimed: number, conflicts: number}} Claims
 */

const STRENGTH = { review: 1, editing: 2, clash: 3 };

export const keyOf = (kind, name) => `${kind}:${name}`;

/** @returns {Claims} every claim of a picture: what clashes first, then areas, then files by name */
export function claims(picture) {
  const rows = new Map();
  declare(rows, picture);
  review(rows, picture);
  for (const row of rows.values()) {
    const editors = [...row.marks].filter(([, mark]) => mark === "editing");
    if (editors.length > 1 && row.kind === "file") editors.forEach(([name]) => row.marks.set(name, "clash"));
  }
  clash(rows, picture);
  const all = [...rows.values()];
  for (const row of all) row.clash = [...row.marks.values()].includes("clash");
  all.sort(byUrgency);
  return {
    rows: all,
    agents: [...new Set(all.flatMap((row) => [...row.marks.keys()]))].sort(byName),
    claimed: all.filter((row) => row.kind === "file").length,
    conflicts: all.filter((row) => row.clash).length,
  };
}

/** The overlaps that a row is about: the hub's, or that two agents wrote the same entry. */
export function overlapsOf(row, picture) {
  const told = [...picture.overlaps.values()].filter(({ areas, files }) =>
    (row.kind === "area" ? areas : files).includes(row.name));
  if (told.length > 0) return told;
  const agents = [...row.marks].filter(([, mark]) => mark === "clash").map(([name]) => name).sort(byName);
  return agents.length > 1 ? [{ agents, files: [row.name], areas: [] }] : [];
}

/** The tasks in review of an agent for which this file was changed. */
export function reviewsOf(row, agent, picture) {
  return [...picture.tasks.values()].filter((task) =>
    task.assignee === agent && task.status === "in_review" && (task.files ?? []).includes(row.name));
}

function declare(rows, picture) {
  for (const agent of picture.agents.values()) {
    if (!agent.live) continue;
    for (const file of agent.files ?? []) mark(rows, "file", file, agent.name, "editing");
    if (agent.area) mark(rows, "area", agent.area, agent.name, "editing");
  }
}

function review(rows, picture) {
  for (const task of picture.tasks.values()) {
    if (!task.assignee || !task.files || task.status !== "in_review") continue;
    for (const file of task.files) mark(rows, "file", file, task.assignee, "review");
  }
}

function clash(rows, picture) {
  for (const { agents, files, areas } of picture.overlaps.values()) {
    for (const agent of agents) {
      for (const file of files) mark(rows, "file", file, agent, "clash");
      for (const area of areas) mark(rows, "area", area, agent, "clash");
    }
  }
}

function mark(rows, kind, name, agent, how) {
  const key = keyOf(kind, name);
  const row = rows.get(key) ?? { key, kind, name, marks: new Map(), clash: false };
  rows.set(key, row);
  if (STRENGTH[how] > (STRENGTH[row.marks.get(agent)] ?? 0)) row.marks.set(agent, how);
}

const byName = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

function byUrgency(one, other) {
  return other.clash - one.clash || byName(one.kind, other.kind) || byName(one.name, other.name);
}

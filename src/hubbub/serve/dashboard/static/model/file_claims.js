// Who claims what: the rows and columns of the file map, made from a picture. Pure.
//
// A row is a file, a pattern as it was written, or an area. A mark says what an agent has to do with it: it edits it
// (it declared so), it is done with it and the work is in review, or it clashes with another agent there. Which scopes
// clash is the hub's word (`picture.overlaps`); that two agents wrote the very same entry can be seen without it.

import { tasksOf } from "./states.js";

/**
 * @typedef {"editing" | "review" | "clash"} Mark
 * @typedef {{key: string, kind: "file" | "area", name: string, marks: Map<string, Mark>, clash: boolean}} Row
 * @typedef {{rows: Row[], claimed: number, conflicts: number}} Claims
 */

export const keyOf = (kind, name) => `${kind}:${name}`;

/** @returns {Claims} every claim of a picture: what clashes first, then areas, then files by name */
export function claims(picture) {
  const rows = new Map();
  declare(rows, picture);
  compare(rows);
  clash(rows, picture);
  const all = [...rows.values()];
  for (const row of all) row.clash = [...row.marks.values()].includes("clash");
  return {
    rows: all.sort(byUrgency),
    claimed: all.filter((row) => row.kind === "file").length,
    conflicts: all.filter((row) => row.clash).length,
  };
}

/** The overlaps that a row is about: the hub's, or that agents wrote the same entry. */
export function overlapsOf(row, picture) {
  const told = [...picture.overlaps.values()].filter(({ areas, files }) =>
    (row.kind === "area" ? areas : files).includes(row.name));
  if (told.length > 0) return told;
  const agents = [...row.marks].filter(([, mark]) => mark === "clash").map(([name]) => name).sort(byName);
  return agents.length > 1 ? [{ agents, files: [row.name], areas: [] }] : [];
}

/** What of an agent's work is in review, if all that it has begun is. */
export function reviewed(name, picture) {
  if (picture.agents.get(name)?.holds.length) return [];
  return tasksOf(name, picture).filter(({ state }) => state === "review");
}

function declare(rows, picture) {
  for (const agent of picture.agents.values()) {
    if (!agent.live) continue;
    const how = reviewed(agent.name, picture).length > 0 ? "review" : "editing";
    for (const file of agent.files ?? []) mark(rows, "file", file, agent.name, how);
    if (agent.area) mark(rows, "area", agent.area, agent.name, how);
  }
}

/** The same file, two agents; an area is wide enough for several. */
function compare(rows) {
  for (const row of rows.values()) {
    const editors = [...row.marks].filter(([, how]) => how === "editing");
    if (row.kind === "file" && editors.length > 1) editors.forEach(([name]) => row.marks.set(name, "clash"));
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
  if (!rows.has(key)) rows.set(key, { key, kind, name, marks: new Map(), clash: false });
  rows.get(key).marks.set(agent, how);
}

const byName = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

function byUrgency(one, other) {
  return other.clash - one.clash || byName(one.kind, other.kind) || byName(one.name, other.name);
}

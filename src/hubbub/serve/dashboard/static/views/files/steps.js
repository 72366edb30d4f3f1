// Where a key leads in the map. A row has its name, and a stop for each agent that has something to do with the file.

import { letters } from "../../shell/keys.js";

const WAYS = { h: "ArrowLeft", j: "ArrowDown", k: "ArrowUp", l: "ArrowRight" };
const PAGE = 15; // rows

/**
 * @param {KeyboardEvent} event
 * @param {{at: number, agent: string|null}} place the row, and the agent; null: the name of the file
 * @returns {{at: number, agent: string|null}|null} null: the key means nothing here
 */
export function next(event, { at, agent }, rows, agents) {
  if (event.altKey || event.metaKey || rows.length === 0) return null;
  const key = letters.value ? WAYS[event.key] ?? event.key : event.key;
  const stops = stopsOf(rows[at], agents);
  const here = Math.max(0, stops.indexOf(agent));
  const inRow = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: stops.length - 1 };
  if (event.ctrlKey) return { Home: { at: 0, agent: null }, End: { at: rows.length - 1, agent: null } }[key] ?? null;
  if (key in inRow) return { at, agent: stops[clamp(inRow[key], stops.length)] };
  const toRow = { ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - PAGE, PageDown: at + PAGE };
  if (!(key in toRow)) return null;
  const to = clamp(toRow[key], rows.length);
  return { at: to, agent: nearest(stopsOf(rows[to], agents), agent, agents) };
}

const clamp = (index, length) => Math.max(0, Math.min(length - 1, index));

const stopsOf = (row, agents) => [null, ...agents.filter((name) => row.marks.has(name))];

/** In another row, the agent that stands the least to the side; a name stays a name. */
function nearest(stops, agent, agents) {
  if (agent === null) return null;
  const column = agents.indexOf(agent);
  const away = (name) => Math.abs(agents.indexOf(name) - column);
  const others = stops.slice(1);
  return others.length === 0 ? null : others.reduce((best, name) => (away(name) < away(best) ? name : best));
}

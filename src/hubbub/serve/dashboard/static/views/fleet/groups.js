// The fleet machine by machine: who is where, and who has been gone for so long that only a count is left. Pure.

import { isEmpty, matches } from "../../model/filter.js";
import { currentTask, tasksOf } from "../../model/states.js";

const LONG_GONE = 24 * 60 * 60_000; // milliseconds; who has left and holds nothing is history by then

/**
 * @typedef {{agent: object, state: string, task: object|undefined}} Member
 * @typedef {{machine: string|null, members: Member[], working: number}} Group `machine` null: nobody knows where
 */

/** @returns {{groups: Group[], gone: object[]}} machines by name, agents by name; those that are not there last */
export function fleet(picture, query, now) {
  const byMachine = new Map();
  const gone = [];
  for (const agent of picture.agents.values()) {
    if (!matches(agent, query, picture)) continue;
    if (isEmpty(query) && isLongGone(agent, picture, now)) {
      gone.push(agent);
      continue;
    }
    const where = agent.machine ?? null;
    if (!byMachine.has(where)) byMachine.set(where, []);
    byMachine.get(where).push(member(agent, picture));
  }
  const groups = [...byMachine].map(([machine, members]) => ({
    machine,
    members: members.sort(byPresence),
    working: members.filter(({ state }) => state === "working").length,
  }));
  return { groups: groups.sort(byMachineName), gone: gone.sort(byName) };
}

const member = (agent, picture) => ({
  agent,
  state: agent.state,
  task: currentTask(agent.name, picture),
});

function isLongGone(agent, picture, now) {
  return !agent.live && now - (agent.ended_at ?? now) > LONG_GONE && tasksOf(agent.name, picture).length === 0;
}

const compared = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
const byName = (one, other) => compared(one.name, other.name);
const isAway = ({ state }) => Number(state === "offline");

function byPresence(one, other) {
  return isAway(one) - isAway(other) || byName(one.agent, other.agent);
}

function byMachineName(one, other) {
  return Number(one.machine === null) - Number(other.machine === null) || compared(one.machine, other.machine);
}

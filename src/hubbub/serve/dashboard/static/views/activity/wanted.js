// Which activities are asked for: by the chips of the view, and by what stands in the filter field. Pure.
import { groupOf, ROUTINE } from "../../model/kinds.js";
import { refOf } from "../task/names.js";

/** @param {string|undefined} chosen the groups of the query, comma-separated; none means all */
export const chosenGroups = (chosen) => new Set((chosen ?? "").split(",").filter(Boolean));

/**
 * @param {object} activity
 * @param {Record<string, string>} query `kinds`, `routine`, `agent`, `about` (a task's number or id)
 * @param {{words: string[], agent: string[], area: string[]}} filter of the filter field
 * @param {{tasks: Map<string, object>}} picture
 */
export function isWanted(activity, query, filter, picture) {
  const groups = chosenGroups(query.kinds);
  if (groups.size && !groups.has(groupOf(activity.kind))) return false;
  if (ROUTINE.has(activity.kind) && !query.routine) return false;
  const task = activity.task_id ? picture.tasks.get(activity.task_id) : null;
  if (query.agent && !isOf(activity, query.agent)) return false;
  if (query.about && !isAbout(activity, query.about)) return false;
  if (filter.agent.length && !filter.agent.some((name) => isOf(activity, name))) return false;
  if (filter.area.length && !filter.area.includes(task?.area?.toLowerCase())) return false;
  return filter.words.length === 0 || says(activity, task, filter.words);
}

const isOf = ({ actor, agent }, name) =>
  [actor, agent].some((each) => each?.toLowerCase() === name.toLowerCase());

const isAbout = ({ task_id: id, detail }, ref) =>
  id === ref || (id && String(detail.number) === ref.replace(/^T-|^#/i, ""));

function says({ kind, actor, agent, detail }, task, words) {
  const parts = [kind, actor, agent, task?.title, task && refOf(task), JSON.stringify(detail)];
  const text = parts.join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

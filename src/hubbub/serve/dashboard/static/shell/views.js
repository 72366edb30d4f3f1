// The views: which there are, their icon, their chord, and the numbers beside their names.
import { computed } from "../vendor/ui.js";
import { agents, letters, overlaps, tasks } from "../model/moment.js";
import { isEnded } from "../model/states.js";
import { waiting } from "../model/waiting.js";

const count = (map, holds) => {
  let found = 0;
  for (const card of map.values()) if (holds(card)) found += 1;
  return found;
};

/** @typedef {{view: string, icon: string, chord: string, count?: {value: number}, amber?: boolean}} View */

/** What people look at. @type {View[]} */
export const WATCH = [
  { view: "needs", icon: "inbox", chord: "i", count: computed(() => waiting.value.length), amber: true },
  { view: "board", icon: "layout-dashboard", chord: "b",
    count: computed(() => count(tasks.value, (task) => !isEnded(task))) },
  { view: "fleet", icon: "bot", chord: "f", count: computed(() => count(agents.value, (agent) => agent.live)) },
  { view: "messages", icon: "messages-square", chord: "m", count: computed(() => letters.value.size) },
  { view: "files", icon: "folder-tree", chord: "c", count: computed(() => overlaps.value.size), amber: true },
  { view: "graph", icon: "workflow", chord: "d" },
  { view: "activity", icon: "activity", chord: "a" },
];

/** What keeps it all going. @type {View[]} */
export const OPERATE = [
  { view: "machines", icon: "server", chord: "n" },
  { view: "audit", icon: "scroll-text", chord: "u" },
  { view: "settings", icon: "settings", chord: "s" },
];

/** Those that have a place of their own at the lower edge of a phone. */
export const ON_PHONE = ["needs", "board", "fleet", "activity"];

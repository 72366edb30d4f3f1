// What the keys do to the task whose card has the focus, or that is open at the side.

import { shown } from "../../model/moment.js";
import { useKey } from "../../shell/keys.js";
import { openTask } from "./names.js";
import { perform } from "./doing.js";

/** The task that a card stands for: `task:ID`. */
export const taskOf = (item) => (item?.startsWith("task:") ? shown.value.tasks.get(item.slice(5)) : undefined);

/** `a` approves work that is in review, `r` says something about the task. */
export function useTaskKeys() {
  const which = (item) => taskOf(item) ?? (item ? undefined : openTask(shown.value));
  useKey("a", "needs.key_approve", (item) => {
    const task = which(item);
    if (!task || !task.may.includes("approve")) return false;
    return void perform("approve_work", task);
  });
  useKey("r", "needs.key_reply", (item) => {
    const task = which(item);
    return task ? void perform("answer", task) : false;
  });
}

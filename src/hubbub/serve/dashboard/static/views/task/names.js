// What a task is called, and where it is opened.

import { findTask } from "../../model/states.js";
import { href, route } from "../../shell/router.js";

/** "T-266". */
export const refOf = (task) => `T-${task.number}`;

/** The address that opens the task beside the view that is shown. */
export function taskHref(task) {
  const { view, query } = route.value;
  return href(view, { ...query, task: task.number });
}

/** The task that is open at the side, if the picture has it. */
export const openTask = (picture) => findTask(route.value.query.task ?? "", picture);

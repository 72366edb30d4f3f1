// The dialog for a new task, from wherever one is.
import { html } from "../vendor/ui.js";
import { openDialog } from "../ui/dialog.js";

export async function createTask() {
  const { CreateTask } = await import("../views/task/create.js");
  openDialog((close) => html`<${CreateTask} onClose=${close} />`);
}

// Which files a task is about: those that were changed for it, else those where its holder says that it works; and
// who else works on them.

import { html } from "../../vendor/ui.js";
import { currentTask } from "../../model/states.js";
import { href } from "../../shell/router.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";

const MOST = 30;

/** @param {{task: object, picture: object}} props */
export function Files({ task, picture }) {
  const holder = picture.agents.get(task.assignee);
  const declared = holder?.live && currentTask(task.assignee, picture) === task ? holder.files : null;
  const files = task.files ?? declared ?? [];
  if (!files.length) return null;
  const others = othersOn(task.assignee, picture);
  return html`
    <section class="inspector-part">
      <h3>${t("inspector.files")}
        <small>${task.files ? t("inspector.files_changed") : t("inspector.files_declared")}</small></h3>
      <ul class="stack scope-files">
        ${files.slice(0, MOST).map((file) => html`
          <li key=${file}><${File} path=${file} others=${others.get(file)} /></li>`)}
        ${files.length > MOST && html`
          <li class="faint">${t("inspector.and_more", { count: files.length - MOST })}</li>`}
      </ul>
    </section>`;
}

function File({ path, others }) {
  return html`
    <a class="row" href=${href("files", { q: path })}>
      <${Icon} name="file-code" size=${14} /><bdi class="mono">${path}</bdi></a>
    ${others && html`<div class="amber small"><${Icon} name="triangle-alert" size=${13} />
      ${t("inspector.also", { names: [...others].join(", ") })}</div>`}`;
}

/** File → the other agents who said that they work on it. */
function othersOn(name, picture) {
  const found = new Map();
  for (const { agents, files } of picture.overlaps.values()) {
    if (!agents.includes(name)) continue;
    const other = agents.find((each) => each !== name);
    for (const file of files) found.set(file, (found.get(file) ?? new Set()).add(other));
  }
  return found;
}

// Graph: what waits for what. Unfinished tasks and a little of what came before, from left to right.

import { computed, html, useEffect, useState } from "../vendor/ui.js";
import { isLive } from "../hub/live.js";
import { isEmpty, matches, parse } from "../model/filter.js";
import { inProject, loaded, shown, tasks } from "../model/moment.js";
import { findTask, isEnded } from "../model/states.js";
import { href, route } from "../shell/router.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { language, t } from "../words.js";
import { Canvas } from "./graph/canvas.js";
import { GraphNode } from "./graph/node.js";
import { draw } from "./graph/place.js";
import { arrows, connected, shape, waits } from "./graph/shape.js";
import { useKept } from "./kept.js";
import { taskHref } from "./task/names.js";

/** Made anew only when a task changed. */
const now = computed(() => shape({ tasks: tasks.value }));

export function View() {
  const { nodes, needs, key, alone, cut } = now.value;
  const drawing = useDrawing(nodes, needs, key);
  if (!loaded.value) return html`<div class="view"><${Skeleton} /></div>`;
  if (nodes.length === 0) {
    return html`<${Empty} icon="workflow" title=${t("graph.empty")} text=${t("graph.empty_text")}
      command=${first()} />`;
  }
  return html`<div class="graph">
    <div class="graph-head small">
      <span>${t("graph.legend")}</span>
      ${alone > 0 && html`<a class="link" href=${href("board")}>${t("graph.alone", { count: alone })}</a>`}
      ${cut > 0 && html`<span class="amber">${t("graph.cut", { count: cut })}</span>`}
      <span class="end num">${t("graph.tasks", { count: nodes.length })}</span>
    </div>
    ${drawing ? html`<${Drawn} drawing=${drawing} />` : html`<div class="view"><${Skeleton} /></div>`}
  </div>`;
}

/** Two tasks, the second after the first, whose number will be the next one. */
function first() {
  const number = Math.max(0, ...[...tasks.value.values()].map((task) => task.number)) + 1;
  const add = (text) => inProject(`hubbub task add "${text}"`);
  return `${add("Make the release")} && ${add("Write its notes")} --depends-on ${number}`;
}

/** The layout, made only when the shape is another; the old one stays until the new one is there. */
function useDrawing(nodes, needs, key) {
  const [drawing, setDrawing] = useState(null);
  useEffect(() => {
    if (nodes.length === 0) return undefined;
    let isOld = false;
    draw(nodes, arrows(needs)).then((made) => isOld || setDrawing(made));
    return () => { isOld = true; };
  }, [key, drawing ? null : isLive.value]);
  return drawing;
}

function Drawn({ drawing }) {
  const picture = shown.value;
  const { q, task: open } = route.value.query;
  const query = parse(q);
  const chosen = open ? findTask(open, picture)?.id : undefined;
  const near = drawing.spots.has(chosen) ? connected(drawing.lines, chosen) : null;
  const asked = (task) => isEmpty(query) || matches(task, query, picture);
  const isDim = (id) => (near !== null && !near.has(id)) || !asked(picture.tasks.get(id));
  const kept = useKept();
  const node = (id) => {
    const task = picture.tasks.get(id);
    const dim = isDim(id);
    const from = [task, task.state, drawing.spots.get(id), dim, id === chosen, route.value, language.value];
    return kept(id, from, () => html`<${GraphNode} key=${id} task=${task} state=${from[1]} spot=${from[2]} dim=${dim}
      current=${id === chosen} href=${taskHref(task)} isOver=${isEnded(task)} />`);
  };
  const there = drawing.order.filter((id) => picture.tasks.has(id)); // the layout may be a moment behind
  const lines = drawing.lines.filter(({ from, to }) => picture.tasks.has(from) && picture.tasks.has(to));
  return html`<${Canvas} width=${drawing.width} height=${drawing.height}>
    <svg class="graph-lines" width=${drawing.width} height=${drawing.height} aria-hidden="true">
      ${lines.map(({ from, to, d }) => html`<path key=${`${from}>${to}`} d=${d}
        class=${`${waits(picture, { from, to }) ? "is-waiting" : ""} ${isDim(from) || isDim(to) ? "is-dim" : ""}`} />`)}
    </svg>
    <ul>${there.map(node)}</ul>
  <//>`;
}

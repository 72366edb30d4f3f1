// Graph: what waits for what. Unfinished tasks and a little of what came before, from left to right.

import { computed, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { isEmpty, matches, parse } from "../model/filter.js";
import { findTask, isEnded } from "../model/states.js";
import { inProject, loaded, shown, tasks } from "../model/store.js";
import { isLive } from "../hub/stream.js";
import { language, number, t } from "../i18n.js";
import { useKey, useList } from "../shell/keyboard.js";
import { lazy } from "../shell/lazy.js";
import { href, route } from "../shell/router.js";
import { Button, IconButton } from "../ui/controls.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { useElementCache } from "../ui/long_lists.js";
import { Glyph, hueOf, stateWord } from "../ui/marks.js";
import { Text } from "../ui/text.js";
import { isWide } from "../ui/width.js";
import { refOf, taskHref } from "./task/actions.js";

/**
 * What the graph shows: unfinished tasks that need others or are needed, and two levels of what came before. Pure.
 *
 * An arrow runs from a task to what waits for it. One that only says what a longer way says too is left out
 * (transitive reduction), so that what is to be seen is what must be done next.
 */

const MOST_NODES = 500; // nodes; a larger picture is neither readable nor laid out in a moment
const LEVELS = 2; // of ended tasks before the unfinished ones

/**
 * @typedef {{from: string, to: string}} Arrow
 * @typedef {object} Shape
 * @property {string[]} nodes ids of tasks, by number
 * @property {Map<string, string[]>} needs of each node, the nodes that it needs
 * @property {string} key another one exactly if the nodes or their needs are others
 * @property {number} alone unfinished tasks that need nothing and that nothing waits for
 * @property {number} cut tasks beyond the 500 newest
 */

/** Whether what an arrow leads to still waits for what it comes from. */
const waits = (picture, { from, to }) =>
  picture.tasks.get(from)?.state !== "done" && !isEnded(picture.tasks.get(to));

/** @returns {Shape} */
export function shape(picture) {
  const known = (task) => task.depends_on.filter((id) => picture.tasks.has(id));
  const open = [...picture.tasks.values()].filter((task) => !isEnded(task));
  const needed = new Set(open.flatMap(known));
  const linked = open.filter((task) => needed.has(task.id) || known(task).length > 0);
  const shown = withAncestors(linked, picture);
  const kept = new Map(shown.sort((one, other) => one.number - other.number).slice(-MOST_NODES)
    .map((task) => [task.id, task]));
  const needs = new Map();
  for (const [id, task] of kept) needs.set(id, task.depends_on.filter((each) => kept.has(each)));
  return {
    nodes: [...kept.keys()],
    needs,
    key: [...needs].map(([id, ids]) => `${id}<${ids.join()}`).join(";"),
    alone: open.length - linked.length,
    cut: shown.length - kept.size,
  };
}

/**
 * The arrows of a shape, without those that a longer way makes needless.
 * @returns {Arrow[]}
 */
export function arrows(needs) {
  const place = new Map(inOrder(needs).map((id, index) => [id, index]));
  const above = new Map();
  const found = [];
  for (const id of place.keys()) {
    const reached = new Set();
    // A circle, which the hub does not allow, is cut open here rather than followed for ever.
    const before = [...new Set(needs.get(id))].filter((each) => place.get(each) < place.get(id));
    // The nearest first: what is reached through it needs no arrow of its own.
    for (const each of before.sort((one, other) => place.get(other) - place.get(one))) {
      if (reached.has(each)) continue;
      found.push({ from: each, to: id });
      reached.add(each);
      above.get(each).forEach((further) => reached.add(further));
    }
    above.set(id, reached);
  }
  return found;
}

/** A task, everything that it needs, near and far, and everything that waits for it. */
function connected(edges, id) {
  return new Set([...reach(edges, id, "to", "from"), ...reach(edges, id, "from", "to")]);
}

function reach(edges, start, here, there) {
  const next = new Map();
  for (const edge of edges) next.set(edge[here], [...(next.get(edge[here]) ?? []), edge[there]]);
  const seen = new Set([start]);
  for (const id of seen) (next.get(id) ?? []).forEach((each) => seen.add(each)); // a Set may grow while it is walked
  return seen;
}

function withAncestors(tasks, picture) {
  const shown = new Set(tasks);
  let level = tasks;
  for (let depth = 0; depth < LEVELS; depth++) {
    level = level.flatMap((task) => task.depends_on.map((id) => picture.tasks.get(id)))
      .filter((task) => task && isEnded(task) && !shown.has(task));
    level.forEach((task) => shown.add(task));
  }
  return [...shown];
}

/** The ids in such an order that what a task needs comes before it. */
function inOrder(needs) {
  const done = new Set();
  const begun = new Set();
  for (const root of needs.keys()) {
    const stack = [root];
    while (stack.length > 0) {
      const id = stack[stack.length - 1];
      begun.add(id);
      const missing = needs.get(id).find((each) => !done.has(each) && !begun.has(each));
      if (missing !== undefined) {
        stack.push(missing);
      } else {
        stack.pop();
        done.add(id);
      }
    }
  }
  return [...done];
}

/**
 * Where each node and each arrow of the graph is drawn: a layered layout by dagre, which is loaded when it is needed.
 */

const WIDTH = 196; // px of a node
const HEIGHT = 46;
const BESIDE = 62; // px between two columns
const BELOW = 12; // px between two nodes of a column
const MARGIN = 16;

/**
 * @typedef {{x: number, y: number}} Spot the left upper corner
 * @typedef {{width: number, height: number, spots: Map<string, Spot>, lines: {from: string, to: string, d: string}[],
 *   order: string[]}} Drawing
 */

/**
 * @param {string[]} nodes @param {Arrow[]} edges
 * @returns {Promise<Drawing|null>} `order`: the nodes as one reads them, column by column; null: it cannot be drawn now
 */
async function draw(nodes, edges) {
  const { Graph, layout } = (await lazy("dagre")) ?? {};
  if (!Graph) return null;
  const graph = new Graph();
  graph.setGraph({
    rankdir: "LR", ranksep: BESIDE, nodesep: BELOW, edgesep: BELOW, marginx: MARGIN, marginy: MARGIN,
    ranker: "tight-tree", // a fifth of the time of the exact one, and as good to look at
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const centre = (id) => graph.node(id);
  const columns = new Set(nodes.map((id) => Math.round(centre(id).x)));
  const spots = new Map(nodes.map((id) => [id, spot(centre(id))]));
  return {
    width: graph.graph().width,
    height: graph.graph().height,
    spots,
    lines: edges.map((edge) => ({ ...edge, d: line(graph.edge(edge.from, edge.to).points, columns, edge, spots) })),
    order: [...nodes].sort((one, other) =>
      spots.get(one).x - spots.get(other).x || spots.get(one).y - spots.get(other).y),
  };
}

const spot = ({ x, y }) => ({ x: x - WIDTH / 2, y: y - HEIGHT / 2 });

/** Level through every column that it crosses, bent only between them. */
function line(points, columns, { from, to }, spots) {
  const start = spots.get(from);
  const end = spots.get(to);
  let x = start.x + WIDTH;
  let y = start.y + HEIGHT / 2;
  let path = `M${round(x)} ${round(y)}`;
  const bend = (nextX, nextY) => {
    const middle = round((x + nextX) / 2);
    path += `C${middle} ${round(y)} ${middle} ${round(nextY)} ${round(nextX)} ${round(nextY)}`;
  };
  for (const point of points.slice(1, -1)) {
    if (!columns.has(Math.round(point.x))) continue;
    bend(point.x - WIDTH / 2, point.y);
    path += `H${round(point.x + WIDTH / 2)}`;
    [x, y] = [point.x + WIDTH / 2, point.y];
  }
  bend(end.x, end.y + HEIGHT / 2);
  return path;
}

const round = (value) => Math.round(value * 10) / 10;

// A large drawing to move about in: it scrolls as any page does, by wheel, touch and keys, is dragged with the mouse,
// and is made larger and smaller by Ctrl and the wheel, by two fingers, by + and -, and by its buttons.

const LEAST_ZOOM = 0.2;
const MOST_ZOOM = 1.6;
const ZOOM_STEP = 1.2;
const DRAGGED = 4; // px; less is a click
const WHEEL = 0.0022; // zoom per pixel of the wheel

/** @param {{width: number, height: number, children: any}} props */
function Canvas({ width, height, children }) {
  const box = useRef(null);
  const [scale, setScale] = useState(1);
  const fixed = useRef(null); // the point that stays where it is while the scale changes
  useList(box);
  useLayoutEffect(() => hold(box.current, fixed), [scale]);
  const zoom = (factor, at = middle(box.current)) => setScale((old) => {
    const made = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, old * factor));
    const { scrollLeft, scrollTop } = box.current;
    fixed.current = { ...at, x: (scrollLeft + at.left) / old, y: (scrollTop + at.top) / old, scale: made };
    return made;
  });
  const fit = () => {
    const { clientWidth, clientHeight } = box.current;
    setScale(Math.max(LEAST_ZOOM, Math.min(1, clientWidth / width, clientHeight / height)));
    box.current.scrollTo(0, 0);
  };
  useKey("+", "graph.zoom_in", () => zoom(ZOOM_STEP), { group: "act" });
  useKey("-", "graph.zoom_out", () => zoom(1 / ZOOM_STEP), { group: "act" });
  useKey("0", "graph.fit", fit, { group: "act" });
  useLayoutEffect(() => listen(box.current, zoom), []);
  return html`<div class="canvas-frame">
    <div class="canvas" ref=${box} tabindex="0" role="region" aria-label=${t("graph.map")}>
      <div style=${{ width: `${width * scale}px`, height: `${height * scale}px` }}>
        <div class="canvas-paper"
          style=${{ width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` }}>${children}</div>
      </div>
    </div>
    <div class="canvas-tools" role="group" aria-label=${t("graph.zoom")}>
      <${Button} kind="quiet" title=${t("graph.zoom_out")} aria-label=${`− ${t("graph.zoom_out")}`}
        disabled=${scale <= LEAST_ZOOM}
        onClick=${() => zoom(1 / ZOOM_STEP)}>−<//>
      <span class="small muted num" role="status">${number(Math.round(scale * 100))} %</span>
      <${IconButton} kind="quiet" icon="plus" label=${t("graph.zoom_in")} onClick=${() => zoom(ZOOM_STEP)}
        disabled=${scale >= MOST_ZOOM} />
      <${IconButton} kind="quiet" icon="scan-search" label=${t("graph.fit")} onClick=${fit} />
    </div>
  </div>`;
}

const middle = (box) => ({ left: box.clientWidth / 2, top: box.clientHeight / 2 });

function hold(box, fixed) {
  if (fixed.current === null) return;
  const { x, y, left, top, scale } = fixed.current;
  fixed.current = null;
  box.scrollTo(x * scale - left, y * scale - top);
}

function listen(box, zoom) {
  const onWheel = (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // without, the wheel scrolls
    event.preventDefault();
    const { left, top } = box.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * WHEEL), { left: event.clientX - left, top: event.clientY - top });
  };
  const forget = drag(box);
  box.addEventListener("wheel", onWheel, { passive: false });
  return () => {
    box.removeEventListener("wheel", onWheel);
    forget();
  };
}

/** With the mouse; fingers scroll by themselves. */
function drag(box) {
  let from = null;
  const onDown = (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    from = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop, moved: false };
  };
  const onMove = (event) => {
    if (!from) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    from.moved ||= Math.hypot(dx, dy) > DRAGGED;
    if (from.moved) box.scrollTo(from.left - dx, from.top - dy);
  };
  const onUp = () => {
    if (from?.moved) addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }));
    from = null;
  };
  const swallow = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  const noGhost = (event) => event.preventDefault(); // links would be dragged away
  box.addEventListener("pointerdown", onDown);
  box.addEventListener("dragstart", noGhost);
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", onUp);
  return () => {
    box.removeEventListener("pointerdown", onDown);
    box.removeEventListener("dragstart", noGhost);
    removeEventListener("pointermove", onMove);
    removeEventListener("pointerup", onUp);
  };
}

// On a phone the same from top to bottom: what can be done first, then what waits for that, each with what it needs.

/** The tasks of each level, by number: those that need nothing shown, those that need only them, and so on. */
function levels(needs) {
  const level = new Map();
  for (const id of inOrder(needs)) {
    level.set(id, Math.max(-1, ...needs.get(id).map((each) => level.get(each) ?? -1)) + 1);
  }
  const found = [...Map.groupBy(needs.keys(), (id) => level.get(id))];
  return found.sort(([one], [other]) => one - other).map(([, ids]) => ids);
}

function Outline({ needs }) {
  const list = useRef(null);
  useList(list);
  const picture = shown.value;
  const query = parse(route.value.query.q);
  const isThere = (id) => picture.tasks.has(id);
  const nearest = useMemo(() => Map.groupBy(arrows(needs), ({ to }) => to), [needs]);
  return html`<div class="graph-outline" ref=${list}>${levels(needs).map((ids, index) => html`
    <section key=${index} aria-label=${t("graph.level", { count: index + 1 })}>
      <h2 class="section-title">${t("graph.level", { count: index + 1 })} <small class="num">${ids.length}</small></h2>
      <ul>${ids.filter(isThere).map((id) => html`<${OutlineNode} key=${id} task=${picture.tasks.get(id)}
        dim=${!isEmpty(query) && !matches(picture.tasks.get(id), query, picture)}
        needs=${(nearest.get(id) ?? []).map(({ from }) => picture.tasks.get(from)).filter(Boolean)} />`)}</ul>
    </section>`)}</div>`;
}

function OutlineNode({ task, dim, needs }) {
  return html`<li><a class=${lookOf(task, dim, false)} href=${taskHref(task)} data-item=${`task:${task.id}`}
    aria-label=${labelOf(task)}><${Named} task=${task} /></a>
    ${needs.length > 0 && html`<p class="small muted row wrap">${t("graph.needs")}${needs.map((each) => html`
      <a class="link row-tight" key=${each.id} href=${taskHref(each)}><${Glyph} state=${each.state} size=${13} />
        <span class="ref mono">${refOf(each)}</span></a>`)}</p>`}
  </li>`;
}

// A task in the graph: its exact state, its number, who holds it, and what it is.

/**
 * @param {object} props
 * @param {object} props.task @param {{x: number, y: number}} props.spot
 * @param {boolean} props.dim @param {boolean} props.current @param {string} props.href
 */
function GraphNode({ task, spot, dim, current, href }) {
  const style = { left: `${spot.x}px`, top: `${spot.y}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` };
  return html`<li><a class=${lookOf(task, dim, current)} href=${href} style=${style} data-item=${`task:${task.id}`}
    aria-label=${labelOf(task)} aria-current=${current ? "true" : undefined}
    title=${task.assignee ? undefined : t("graph.nobody")}><${Named} task=${task} /></a></li>`;
}

const lookOf = (task, dim, current) =>
  `graph-node ${isEnded(task) ? "is-over" : ""} ${dim ? "is-dim" : ""} ${current ? "is-current" : ""}`;

const labelOf = (task) =>
  `${refOf(task)} ${task.assignee ?? ""} ${task.title.slice(0, 120)}, ${stateWord(task.state)}`;

function Named({ task: { assignee, ...task } }) {
  const holder = assignee && html`<bdi class="mono clip of-agent"
    style=${{ "--hue": hueOf(assignee) }}>${assignee}</bdi>`;
  return html`<span class="row"><${Glyph} state=${task.state} quiet size=${14} /><span
      class="ref mono">${refOf(task)}</span>
      ${holder}</span>
    <span class="clip"><${Text} value=${task.title} /></span>`;
}

/** Made anew only when a task changed. */
const now = computed(() => shape({ tasks: tasks.value }));

export function View() {
  const { nodes, needs, key, alone, cut } = now.value;
  const drawing = useDrawing(isWide.value ? nodes : [], needs, key);
  if (!loaded.value) return html`<div class="view"><${Skeleton} /></div>`;
  if (nodes.length === 0) {
    return html`<${Empty} icon="workflow" title=${t("graph.empty")} text=${t("graph.empty_text")}
      command=${first()} />`;
  }
  return html`<div class="graph">
    <div class="graph-head small">
      ${isWide.value && html`<span>${t("graph.legend")}</span>`}
      ${alone > 0 && html`<a class="link" href=${href("board")}>${t("graph.alone", { count: alone })}</a>`}
      ${cut > 0 && html`<span class="amber">${t("graph.cut", { count: cut })}</span>`}
      <span class="end num">${t("graph.tasks", { count: nodes.length })}</span>
    </div>
    ${!isWide.value ? html`<${Outline} needs=${needs} />` : drawing ? html`<${Drawn} drawing=${drawing} />`
      : html`<div class="view"><${Skeleton} /></div>`}
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
  }, [key, nodes.length > 0, drawing ? null : isLive.value]);
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
  const kept = useElementCache();
  const node = (id) => {
    const task = picture.tasks.get(id);
    const dim = isDim(id);
    const from = [task, drawing.spots.get(id), dim, id === chosen, route.value, language.value];
    return kept(id, from, () => html`<${GraphNode} key=${id} task=${task} spot=${from[1]} dim=${dim}
      current=${id === chosen} href=${taskHref(task)} />`);
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

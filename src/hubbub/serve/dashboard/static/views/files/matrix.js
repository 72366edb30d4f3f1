// The map: a row for each file, a column for each agent. Only the rows that can be seen are in the page, and in them
// only the cells where something is; the numbers of rows and columns tell a screen reader where it is all the same.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/ui.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";
import { next } from "./steps.js";

const ROW = 28; // px; as in files.css
const COLUMN = 27;
const NAME = 260; // the first column
const COUNT = 92; // the last one
const BEYOND = 12; // rows above and below that are drawn, too

export const MARK_ICONS = { editing: "loader", review: "eye", clash: "git-branch" };

/**
 * @param {object} props
 * @param {import("./claims.js").Row[]} props.rows @param {string[]} props.agents
 * @param {string|undefined} props.chosen the key of the row that is open
 * @param {(key: string) => void} props.onChoose
 */
export function Matrix({ rows, agents, chosen, onChoose }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, height: 900 });
  const [active, setActive] = useState({ key: null, agent: null });
  const at = Math.max(0, rows.findIndex((row) => row.key === active.key));
  const onKeyDown = useSteps(box, rows, agents, { at, agent: active.agent }, setActive);
  useEffect(() => follow(box.current, setView), []);
  const first = Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  const drawn = rows.slice(first, last).map((row, index) => [row, first + index]);
  // The one that has the tab stop stays in the page, or the focus would be lost when it is scrolled away.
  if (rows[at] && (at < first || at >= last)) drawn.push([rows[at], at]);
  const columns = new Map(agents.map((name, index) => [name, index]));
  const width = NAME + agents.length * COLUMN + COUNT;
  const draw = ([row, index]) => html`<${Line} key=${row.key} row=${row} index=${index} columns=${columns}
    active=${index === at ? active.agent : undefined} chosen=${row.key === chosen}
    onChoose=${onChoose} onFocus=${setActive} />`;
  return html`<div class="matrix-scroll" ref=${box}>
    <div class="matrix" role="grid" aria-label=${t("files.map")} aria-rowcount=${rows.length + 1} aria-readonly="true"
      aria-colcount=${agents.length + 2} style=${{ width: `${width}px` }} onKeyDown=${onKeyDown}>
      <${Head} agents=${agents} />
      <div class="matrix-body" role="rowgroup" style=${{ height: `${rows.length * ROW}px` }}>${drawn.map(draw)}</div>
    </div>
  </div>`;
}

function Head({ agents }) {
  return html`<div role="rowgroup" class="matrix-head"><div role="row" aria-rowindex="1">
    <div role="columnheader" aria-colindex="1" class="matrix-corner small muted">${t("files.file")}</div>
    ${agents.map((name, index) => html`<div key=${name} role="columnheader" aria-colindex=${index + 2}
      class="matrix-agent"
      style=${{ left: `${NAME + index * COLUMN}px` }} title=${name}><bdi>${name}</bdi></div>`)}
    <div role="columnheader" aria-colindex=${agents.length + 2} class="matrix-counts"><span
      class="sr">${t("files.agents_head")}</span></div>
  </div></div>`;
}

function Line({ row, index, columns, active, chosen, onChoose, onFocus }) {
  const isActive = active !== undefined;
  const look = `matrix-row ${row.clash ? "is-clash" : ""} ${chosen ? "is-chosen" : ""}`;
  const stop = (agent) => ({
    tabindex: isActive && active === agent ? 0 : -1,
    onFocus: () => onFocus({ key: row.key, agent }),
    onClick: () => onChoose(row.key),
    "data-item": isActive && active === agent ? `file:${row.key}` : undefined, // where hjkl begin
    "data-stop": `${row.key}\n${agent ?? ""}`,
  });
  return html`<div class=${look} role="row" aria-rowindex=${index + 2} aria-selected=${chosen}
    style=${{ top: `${index * ROW}px` }}>
    <div role="rowheader" aria-colindex="1" class="matrix-name">
      <button type="button" ...${stop(null)} title=${row.name} class="clip">
        ${row.kind === "area" && html`<span class="faint">${t("files.area_short")} </span>`}<bdi
          class="mono">${row.name}</bdi></button></div>
    ${[...row.marks].filter(([name]) => columns.has(name))
      .sort(([one], [other]) => columns.get(one) - columns.get(other))
      .map(([name, mark]) => html`<div key=${name} role="gridcell" aria-colindex=${columns.get(name) + 2}
        class="matrix-cell"
        style=${{ left: `${NAME + columns.get(name) * COLUMN}px` }}>
        <${MarkButton} name=${name} mark=${mark} row=${row} stop=${stop(name)} /></div>`)}
    <div role="gridcell" aria-colindex=${columns.size + 2} class="matrix-counts num">
      ${row.clash ? html`<span
        class="amber strong">${t("files.agents", { count: row.marks.size })}</span>` : ""}</div>
  </div>`;
}

function MarkButton({ name, mark, row, stop }) {
  const words = t(`files.mark_${mark}_by`, { name, file: row.name });
  return html`<button type="button" ...${stop} class="claim" data-mark=${mark} aria-label=${words} title=${words}>
    <${Icon} name=${MARK_ICONS[mark]} size=${13} /></button>`;
}

/** Arrows and hjkl: from one thing to the next, with the row scrolled into sight before it gets the focus. */
function useSteps(box, rows, agents, place, setActive) {
  const wanted = useRef(null);
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const stop = [...box.current.querySelectorAll("[data-stop]")].find((each) => each.dataset.stop === wanted.current);
    wanted.current = null;
    stop?.focus({ preventScroll: true });
  });
  return (event) => {
    const to = next(event, place, rows, agents);
    if (!to) return;
    event.preventDefault();
    reveal(box.current, to.at, to.agent === null ? null : agents.indexOf(to.agent));
    wanted.current = `${rows[to.at].key}\n${to.agent ?? ""}`;
    setActive({ key: rows[to.at].key, agent: to.agent });
  };
}

function reveal(box, at, column) {
  const head = box.querySelector(".matrix-head").offsetHeight;
  const top = at * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW + head > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW + head - box.clientHeight;
  if (column === null) return;
  const left = column * COLUMN;
  const room = box.clientWidth - NAME - COUNT;
  if (left < box.scrollLeft) box.scrollLeft = left;
  else if (left + COLUMN > box.scrollLeft + room) box.scrollLeft = left + COLUMN - room;
}

function follow(element, setView) {
  const look = () => setView((old) => {
    const { scrollTop: top, clientHeight: height } = element;
    return Math.abs(top - old.top) < (ROW * BEYOND) / 2 && height === old.height ? old : { top, height };
  });
  const resized = new ResizeObserver(look);
  resized.observe(element);
  element.addEventListener("scroll", look, { passive: true });
  return () => {
    resized.disconnect();
    element.removeEventListener("scroll", look);
  };
}

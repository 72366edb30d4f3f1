// Files: who works on what, and where two are in each other's way. Conflicts come first.

import { computed, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { claims, overlapsOf, reviewed } from "../model/file_claims.js";
import { isEmpty, matches, parse } from "../model/filter.js";
import { agents, could, install, leases, loaded, may, overlaps, project, shown, tasks } from "../model/store.js";
import { read } from "../hub/endpoints.js";
import { beside, t } from "../i18n.js";
import { compose } from "../shell/dialogs.js";
import { letters, useList } from "../shell/keyboard.js";
import { href, route, set } from "../shell/router.js";
import { Button, Icon, IconButton } from "../ui/controls.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Glyph, StateWord, Tile } from "../ui/marks.js";
import { Text } from "../ui/text.js";
import { isWide } from "../ui/width.js";
import { releaseScope } from "./agent/actions.js";
import { useFetched } from "./fetching.js";
import { Leases } from "./leases.js";
import { Merges } from "./merges.js";
import { clashWords } from "./sentences.js";
import { refOf, taskHref } from "./task/actions.js";

// Where a key leads in the map. A row has its name, and a stop for each agent that has something to do with the file.

const WAYS = { h: "ArrowLeft", j: "ArrowDown", k: "ArrowUp", l: "ArrowRight" };
const PAGE = 15; // rows

/**
 * @param {KeyboardEvent} event
 * @param {{at: number, agent: string|null}} place the row, and the agent; null: the name of the file
 * @returns {{at: number, agent: string|null}|null} null: the key means nothing here
 */
function next(event, { at, agent }, rows, agents) {
  if (event.altKey || event.metaKey || rows.length === 0) return null;
  const key = letters.value ? WAYS[event.key] ?? event.key : event.key;
  const stops = stopsOf(rows[at], agents);
  const here = Math.max(0, stops.indexOf(agent));
  const inRow = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: stops.length - 1 };
  if (event.ctrlKey) return { Home: { at: 0, agent: null }, End: { at: rows.length - 1, agent: null } }[key] ?? null;
  if (key in inRow) return { at, agent: stops[clamp(inRow[key], stops.length)] };
  const toRow = { ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - PAGE, PageDown: at + PAGE };
  if (!(key in toRow)) return null;
  const to = clamp(toRow[key], rows.length);
  return { at: to, agent: nearest(stopsOf(rows[to], agents), agent, agents) };
}

const clamp = (index, length) => Math.max(0, Math.min(length - 1, index));

const stopsOf = (row, agents) => [null, ...agents.filter((name) => row.marks.has(name))];

/** In another row, the agent that stands the least to the side; a name stays a name. */
function nearest(stops, agent, agents) {
  if (agent === null) return null;
  const column = agents.indexOf(agent);
  const away = (name) => Math.abs(agents.indexOf(name) - column);
  const others = stops.slice(1);
  return others.length === 0 ? null : others.reduce((best, name) => (away(name) < away(best) ? name : best));
}

// The map: a row for each file, a column for each agent. Only the rows that can be seen are in the page, and in them
// only the cells where something is; the numbers of rows and columns tell a screen reader where it is all the same.

const ROW = 28; // px; as in files.css
const COLUMN = 27; // where many agents stand beside each other, their names upright
const ROOMY = 84; // from here on a name lies
const WIDEST = 150;
const NAME = 260; // the first column; it takes what is left over
const COUNT = 92; // the last one
const BEYOND = 12; // rows above and below that are drawn, too

const MARK_ICONS = { editing: "loader", review: "eye", clash: "git-branch" };

/**
 * @param {object} props
 * @param {import("../model/file_claims.js").Row[]} props.rows @param {string[]} props.agents
 * @param {string|undefined} props.chosen the key of the row that is open
 * @param {(key: string) => void} props.onChoose
 */
function Matrix({ rows, agents, chosen, onChoose }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, height: 900, width: 0 });
  const room = roomFor(agents.length, view.width);
  const [active, setActive] = useState({ key: null, agent: null });
  const at = Math.max(0, rows.findIndex((row) => row.key === active.key));
  const onKeyDown = useSteps(box, rows, agents, { at, agent: active.agent }, setActive, room);
  useEffect(() => follow(box.current, setView), []);
  const first = Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  const drawn = rows.slice(first, last).map((row, index) => [row, first + index]);
  // The one that has the tab stop stays in the page, or the focus would be lost when it is scrolled away.
  if (rows[at] && (at < first || at >= last)) drawn.push([rows[at], at]);
  const columns = new Map(agents.map((name, index) => [name, index]));
  const draw = ([row, index]) => html`<${Line} key=${row.key} row=${row} index=${index} columns=${columns}
    active=${index === at ? active.agent : undefined} chosen=${row.key === chosen}
    onChoose=${onChoose} onFocus=${setActive} />`;
  return html`<div class="matrix-scroll" ref=${box}>
    <div class=${room.column < ROOMY ? "matrix" : "matrix is-roomy"} role="grid" aria-label=${t("files.map")}
      aria-rowcount=${rows.length + 1} aria-readonly="true" aria-colcount=${agents.length + 2} onKeyDown=${onKeyDown}
      style=${{ "--name": `${room.name}px`, "--column": `${room.column}px`, "--agents": agents.length }}>
      <${Head} agents=${agents} />
      <div class="matrix-body" role="rowgroup" style=${{ height: `${rows.length * ROW}px` }}>${drawn.map(draw)}</div>
    </div>
  </div>`;
}

/** How wide the columns are: what is there is shared out, and where that is too little the map is scrolled. */
function roomFor(agents, width) {
  const free = width - NAME - COUNT;
  const column = Math.max(COLUMN, Math.min(WIDEST, Math.floor(free / agents)));
  const each = column < ROOMY ? COLUMN : column;
  return { column: each, name: Math.max(NAME, width - COUNT - agents * each) };
}

function Head({ agents }) {
  return html`<div role="rowgroup" class="matrix-head"><div role="row" aria-rowindex="1">
    <div role="columnheader" aria-colindex="1" class="matrix-corner small muted">${t("files.file")}</div>
    ${agents.map((name, index) => html`<div key=${name} role="columnheader" aria-colindex=${index + 2}
      class="matrix-agent" style=${{ "--at": index }} title=${name}><bdi>${name}</bdi></div>`)}
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
        class="matrix-cell" style=${{ "--at": columns.get(name) }}>
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
function useSteps(box, rows, agents, place, setActive, room) {
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
    reveal(box.current, to.at, to.agent === null ? null : agents.indexOf(to.agent), room);
    wanted.current = `${rows[to.at].key}\n${to.agent ?? ""}`;
    setActive({ key: rows[to.at].key, agent: to.agent });
  };
}

function reveal(box, at, column, { name, column: width }) {
  const head = box.querySelector(".matrix-head").offsetHeight;
  const top = at * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW + head > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW + head - box.clientHeight;
  if (column === null) return;
  const left = column * width;
  const room = box.clientWidth - name - COUNT;
  if (left < box.scrollLeft) box.scrollLeft = left;
  else if (left + width > box.scrollLeft + room) box.scrollLeft = left + width - room;
}

function follow(element, setView) {
  const look = () => setView((old) => {
    const { scrollTop: top, clientHeight: height, clientWidth: width } = element;
    const isNear = Math.abs(top - old.top) < (ROW * BEYOND) / 2;
    return isNear && height === old.height && width === old.width ? old : { top, height, width };
  });
  const resized = new ResizeObserver(look);
  resized.observe(element);
  element.addEventListener("scroll", look, { passive: true });
  return () => {
    resized.disconnect();
    element.removeEventListener("scroll", look);
  };
}

// One row of the map in words: who claims it, who is in whose way, and what a person can do about it.

/**
 * @param {object} props
 * @param {import("../model/file_claims.js").Row} props.row @param {object} props.picture
 * @param {boolean} [props.focus] @param {() => void} props.onClose
 */
function RowPanel({ row, picture, focus = true, onClose }) {
  const heading = useRef(null);
  useLayoutEffect(() => {
    if (focus) heading.current?.focus({ preventScroll: true });
  }, [row.key]);
  const overlaps = overlapsOf(row, picture);
  const clashing = [...row.marks].filter(([, mark]) => mark === "clash").map(([name]) => name);
  return html`<section class="file-panel" aria-label=${row.name}>
    <div class="row">
      <${Icon} name=${row.kind === "area" ? "folder" : "file-code"} />
      <h2 class="grow mono" tabindex="-1" ref=${heading}><bdi>${row.name}</bdi></h2>
      <${IconButton} kind="quiet" small icon="x" label=${t("files.close")} onClick=${onClose} />
    </div>
    ${row.kind === "area" && html`<${Area} slug=${row.name} />`}
    ${overlaps.map((overlap) => html`<p key=${overlap.agents.join("\n")} class="amber">${clashWords(overlap)}</p>`)}
    ${clashing.length > 1 && could.value.write && html`<div class="row wrap"><${Button} icon="message-square"
      kind="primary"
      disabled=${!may.value.write} onClick=${() => compose(clashing)}>
      ${clashing.length === 2 ? t("files.message_both") : t("files.message_all", { count: clashing.length })}<//>
        </div>`}
    <ul class="file-agents">${[...row.marks].map(([name, mark]) => html`<${Claimant} key=${name} name=${name}
      mark=${mark} picture=${picture} />`)}</ul>
  </section>`;
}

function Claimant({ name, mark, picture }) {
  const agent = picture.agents.get(name);
  const inReview = mark === "review" ? reviewed(name, picture) : [];
  return html`<li class="panel panel-body stack">
    <div class="row"><${Tile} agent=${name} picture=${picture} />
      <a class="grow strong clip" href=${href("files", { q: route.value.query.q, agent: name })}>
        <bdi>${name}</bdi></a>
      ${agent && html`<${StateWord} agent state=${agent.state} />`}</div>
    <div class="row small"><span class="claim" data-mark=${mark}><${Icon} name=${MARK_ICONS[mark]} size=${13} />
      </span>
      <span>${t(`files.mark_${mark}`)}</span></div>
    ${inReview.map((task) => html`<a key=${task.id} class="row small" href=${taskHref(task)}>
      <${Glyph} state=${task.state} /><span class="ref mono faint">${refOf(task)}</span>
      <span class="clip"><${Text} value=${task.title} lines=${1} /></span></a>`)}
    ${could.value.write && html`<div class="row wrap">
      <${Button} small icon="message-square" disabled=${!may.value.write} onClick=${() => compose([name])}
        aria-label=${t("files.message_to", { name })}>${t("files.message")}<//>
      ${agent?.may.includes("release-scope") && html`<${Button} small icon="unlink" disabled=${!may.value.write}
        onClick=${() => releaseScope(name)}
        aria-label=${t("files.release_of", { name })}>${t("files.release")}<//>`}
    </div>`}
  </li>`;
}

/** What an area covers, as it was written. */
function Area({ slug }) {
  const { value } = useFetched(() => read.area(project.value, slug), [slug], ["area."]);
  if (!value) return null;
  const { name, patterns } = value.area;
  return html`<p class="small muted"><bdi>${name}</bdi>: ${patterns.length === 0 ? t("files.no_patterns")
    : patterns.map((pattern) => html`<code key=${pattern}>${pattern}</code> `)}</p>`;
}

// The map on a phone: the same rows one below the other, each with the agents' names; a tap opens what is known.

const STEP = 100; // rows at a time

function FileList({ rows, picture, chosen, onChoose }) {
  const [most, setMost] = useState(STEP);
  return html`<ul class="file-list">${rows.slice(0, most).map((row) => html`<li key=${row.key}
      class=${`panel ${row.clash ? "is-clash" : ""}`}>
      <button type="button" class="file-line" data-item=${`file:${row.key}`} aria-expanded=${row.key === chosen}
        onClick=${() => onChoose(row.key === chosen ? null : row.key)}>
        <span class="row"><bdi class="mono grow">${row.name}</bdi>
          ${row.clash && html`<span
            class="amber strong small nowrap">${t("files.agents", { count: row.marks.size })}</span>`}</span>
        <span class="row wrap small muted">${[...row.marks].map(([name, mark]) => html`<span key=${name}
          class="row-tight">
          <span class="claim" data-mark=${mark}><${Icon} name=${MARK_ICONS[mark]} size=${12} /></span>
          <span class="sr">${t(`files.mark_${mark}`)}: </span><bdi>${name}</bdi></span>`)}</span>
      </button>
      ${row.key === chosen && html`<${RowPanel} row=${row} picture=${picture} focus=${false}
        onClose=${() => onChoose(null)} />`}
    </li>`)}
    ${rows.length > most && html`<li><${Button} onClick=${() => setMost(most + STEP)}>
      ${t("files.more", { count: rows.length - most })}<//></li>`}
  </ul>`;
}

/** Made anew only when something of these nouns changed. */
const all = computed(() => claims({ agents: agents.value, tasks: tasks.value, overlaps: overlaps.value }));

export function View() {
  const { q, file } = route.value.query;
  const page = useRef(null);
  useList(page);
  const query = useMemo(() => parse(q), [q]);
  const { rows, claimed, conflicts } = all.value;
  if (!loaded.value) return html`<div class="view"><${Skeleton} /></div>`;
  if (rows.length === 0 && leases.value.size === 0) {
    return html`<${Empty} icon="folder-tree" title=${t("files.empty")} text=${t("files.empty_text")}
      command=${install()} />`;
  }
  const picture = shown.value;
  const found = isEmpty(query) ? rows : rows.filter((row) => matches(cardOf(row), query, picture));
  const row = rows.find(({ key }) => key === file);
  const choose = (key) => set({ file: key });
  return html`<div class=${`files ${row && isWide.value ? "has-row" : ""}`} ref=${page}>
    <div class="files-head small">
      ${["editing", "review", "clash"].map((mark) => html`<span key=${mark} class="row-tight">
        <span class="claim" data-mark=${mark}><${Icon} name=${MARK_ICONS[mark]} size=${13} />
          </span>${t(`files.legend_${mark}`)}</span>`)}
      <span class="end num">
        ${beside(t("files.claimed", { count: claimed }), t("files.conflicts", { count: conflicts }))}</span>
      <${Leases} leases=${leases.value} />
      <${Merges} />
    </div>
    ${found.length === 0 ? html`<${Empty} icon="filter" title=${t("files.none_match")}
      text=${t("files.none_match_text")} />`
      : isWide.value ? html`<${Matrix} rows=${found} agents=${columnsOf(found)} chosen=${file} onChoose=${choose} />`
      : html`<${FileList} rows=${found} picture=${picture} chosen=${file} onChoose=${choose} />`}
    ${row && isWide.value && html`<${RowPanel} row=${row} picture=${picture} onClose=${() => set({ file: null })} />`}
  </div>`;
}

const cards = new WeakMap();

/** A row as the filter wants it; the same object for the same row, as the filter remembers its text. */
function cardOf(row) {
  if (!cards.has(row)) {
    cards.set(row, { path: row.name, agents: [...row.marks.keys()], area: row.kind === "area" ? row.name : null });
  }
  return cards.get(row);
}

/** The agents that have to do with these rows, by name. */
const columnsOf = (rows) => [...new Set(rows.flatMap((row) => [...row.marks.keys()]))].sort();

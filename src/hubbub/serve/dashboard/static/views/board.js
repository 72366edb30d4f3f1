// The board: who is there, what needs a person, and every task in the column of its state.

import { html, signal, useEffect, useMemo, useRef, useSignal, useState } from "../vendor/ui.js";
import { finishedIn, matches, parse, toggle } from "../model/filter.js";
import { hasOlder } from "../model/fold.js";
import { waiting } from "../model/needs.js";
import { columnOf, COLUMNS, isQueueServed, titleOf } from "../model/states.js";
import { inProject, isPending, loaded, may, moment, now, shown } from "../model/store.js";
import { sentence } from "../hub/actions.js";
import { read } from "../hub/endpoints.js";
import { language, number, t } from "../i18n.js";
import { useKey, useList } from "../shell/keyboard.js";
import { href, route, set } from "../shell/router.js";
import { BulkBar, Card, clearSelection, selected, selectRange, toggleSelected } from "../ui/card.js";
import { Button, Icon } from "../ui/controls.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Window } from "../ui/long_lists.js";
import { Glyph, Paused, stateWord, Tile, TileButton } from "../ui/marks.js";
import { toast } from "../ui/overlays.js";
import { Ago, finishedWords, Span, Text } from "../ui/text.js";
import { NeedCard, useNeedKeys } from "./needs.js";
import {
  isAble, openTask, perform, performOnAll, Priority, refOf, TASK_ACTIONS, taskHref, taskOf, useTaskKeys,
} from "./task/actions.js";

// What stands where on the board, made from a picture: no DOM, so that it can be told from a test what goes where.

const RANK = { critical: 0, high: 1, medium: 2, low: 3 };

/** Since when a task is in the state in which it is, as far as its card tells. */
function since(task, state) {
  switch (columnOf(state)) {
    case "queued": return task.created_at;
    case "running": return task.started_at ?? task.updated_at;
    case "finished": return task.ended_at ?? task.updated_at;
    default: return task.updated_at;
  }
}

/**
 * The columns, left to right: `{name, glyph, cards: [{task, state}], items}`, what matters most first; in `items` the
 * cards stand under headings, if they are to be grouped.
 * @param {any} picture
 * @param {any} query  which tasks are shown
 * @param {object} arranged  as the address says
 * @param {string} [arranged.group] @param {string} [arranged.sort]
 * @param {{since: number, until: number}|null} [arranged.finished]  when what is over must have ended
 */
function columnsOf(picture, query, arranged) {
  const { group, sort, finished } = arranged;
  const cards = new Map(COLUMNS.map(({ name }) => [name, []]));
  for (const task of picture.tasks.values()) {
    if (!matches(task, query, picture) || (finished && task.ended_at !== null && !isIn(task, finished))) continue;
    cards.get(columnOf(task.state)).push({ task, state: task.state });
  }
  return COLUMNS.map(({ name, glyph }) => {
    const sorted = cards.get(name).sort(SORTED[sort] ?? ORDER[name] ?? oldestFirst);
    return { name, glyph, cards: sorted, items: GROUPED[group] ? grouped(sorted, GROUPED[group]) : sorted };
  });
}

const isIn = ({ ended_at: at }, { since, until }) => at >= since && at < until;

/** By which words cards may stand together, none for those that have none; and what comes first of them. */
const GROUPED = {
  agent: { of: ({ assignee }) => assignee, none: "board.unassigned" },
  area: { of: ({ area }) => area, none: "board.no_area" },
  priority: { of: ({ priority }) => priority, word: (name) => t(`board.priority_${name}`), rank: (name) => RANK[name] },
};

/** The cards under a heading for each group, by name, those without one last. */
function grouped(cards, { of, none, word = (name) => name, rank = (_name) => 0 }) {
  const groups = Map.groupBy(cards, ({ task }) => of(task) ?? "");
  const names = [...groups.keys()].sort((a, b) =>
    Number(a === "") - Number(b === "") || rank(a) - rank(b) || a.localeCompare(b));
  return names.flatMap((name) => {
    const heading = name ? word(name) : t(none);
    return [{ heading, count: groups.get(name).length, key: `group ${name}` }, ...groups.get(name)];
  });
}

function oldestFirst(a, b) {
  return since(a.task, a.state) - since(b.task, b.state) || a.task.number - b.task.number;
}

function urgentFirst(a, b) {
  return RANK[a.task.priority] - RANK[b.task.priority] || oldestFirst(a, b);
}

const byNumber = (a, b) => a.task.number - b.task.number;
const SORTED = { priority: urgentFirst, newest: (a, b) => byNumber(b, a), oldest: byNumber };
const ORDER = { queued: urgentFirst, finished: (a, b) => oldestFirst(b, a) };

/** Of each task, how many others it is linked with: what it needs, and what needs it. */
function linksOf(tasks) {
  const links = new Map();
  const count = (id, more) => links.set(id, (links.get(id) ?? 0) + more);
  for (const task of tasks.values()) {
    if (!task.depends_on?.length) continue;
    count(task.id, task.depends_on.length);
    for (const needed of task.depends_on) count(needed, 1);
  }
  return links;
}

/** Of each task, how many letters about it wait for people. */
function lettersOf(letters) {
  const counts = new Map();
  for (const { in_reply_to: about } of letters.values()) counts.set(about, (counts.get(about) ?? 0) + 1);
  return counts;
}

/** The agents by machine, `[[machine or "", [agent]]]`: by name, those on no known machine last. */
function byMachine(agents) {
  const machines = new Map();
  for (const agent of agents.values()) {
    const name = agent.machine ?? "";
    if (!machines.has(name)) machines.set(name, []);
    machines.get(name).push(agent);
  }
  const byName = (a, b) => Number(a === "") - Number(b === "") || a.localeCompare(b);
  for (const crew of machines.values()) crew.sort((a, b) => a.name.localeCompare(b.name));
  return [...machines].sort(([a], [b]) => byName(a, b));
}

// A task on the board: what state it is in, what it is called, who has it, and why it does not go on.

/** The states in which a card says what was said last: why it waits, or what went wrong. */
const TELLING = new Set(["blocked", "waiting", "failed"]);

/**
 * @param {object} props
 * @param {import("../model/fold.js").Task} props.task
 * @param {string} props.state
 * @param {import("../model/fold.js").Picture} props.picture
 * @param {{links: number, files: number, letters: number}} props.counts
 * @param {boolean} props.lonely  nobody has it, and nobody who is there would take it
 * @param {number|null} props.progress  percent, if its holder is at it and says so
 * @param {boolean} props.selected  one of those that the next action is for
 * @param {boolean} props.current  the one that is open at the side
 * @param {boolean} props.pending  something is being done to it
 * @param {(event: MouseEvent) => void} props.onPick
 */
function TaskCard({ task, state, picture, counts, lonely, progress, selected, current, pending, onPick }) {
  const note = TELLING.has(state) && reasonOf(task, picture);
  return html`
    <div class="board-card" role="listitem" onClick=${onPick} ...${drag(task)}>
      <${Card} item=${`task:${task.id}`} href=${taskHref(task)} name=${nameOf(task, state)} selected=${selected}
        current=${current} pending=${pending} flash=${state}>
        <div class="board-line">
          <${Glyph} state=${state} quiet />
          <span class="ref mono faint">${refOf(task)}</span>
          <${Priority} priority=${task.priority} />
          <span class="end meta faint"><${Ago} at=${since(task, state)} /></span>
        </div>
        <div class="board-title"><${Text} value=${titleOf(task)} lines=${2} /></div>
        <${Paused} task=${task} picture=${picture} />
        ${lonely && html`<div class="board-note is-plain">${t("board.nobody_takes")}</div>`}
        ${note && html`<div class="board-note" data-state=${state}><${Text} value=${note} lines=${2} /></div>`}
        <div class="board-line board-foot">
          <${Holder} task=${task} picture=${picture} />
          <${Counts} ...${counts} />
        </div>
        ${progress !== null && html`<${Progress} percent=${progress} />`}
      <//>
    </div>`;
}

/** Why it does not go on: a question to people, what was said of it last, or what its holder says. */
function reasonOf(task, picture) {
  if (task.state === "waiting" && !task.need) return t("board.waits_approval");
  const doing = picture.agents.get(task.assignee)?.doing;
  return task.note || (doing === task.title ? null : doing);
}

/** A link's accessible name begins with what the card shows. */
const nameOf = (task, state) => `${refOf(task)} ${task.title.slice(0, 120)}, ${stateWord(state)}`;

function Holder({ task, picture }) {
  if (!task.assignee) return html`<span class="muted small">${t("board.unassigned")}</span>`;
  return html`<${Tile} small agent=${task.assignee} picture=${picture} />
    <bdi class="muted small clip">${task.assignee}</bdi>`;
}

function Counts({ links, files, letters }) {
  const count = (value, icon, key) => value > 0 && html`
    <span class="board-count" title=${t(key, { count: value })}><${Icon} name=${icon} size=${13} />
      <span aria-hidden="true">${value}</span><span class="sr">${t(key, { count: value })}</span></span>`;
  return html`<span class="board-counts">
    ${count(links, "link", "board.links")}
    ${count(letters, "message-square", "board.letters")}
    ${count(files, "file-code", "board.files")}
  </span>`;
}

function Progress({ percent }) {
  const value = Math.max(0, Math.min(100, Math.round(percent)));
  return html`<div class="board-progress" role="progressbar" aria-label=${t("board.progress")}
    aria-valuenow=${value} aria-valuemin="0" aria-valuemax="100"><i style=${{ width: `${value}%` }}></i></div>`;
}

/** A task that has ended, in one line. */
function FinishedRow({ task, state, selected, current, pending, onPick }) {
  return html`
    <div class="board-done" role="listitem" onClick=${onPick} ...${drag(task)}>
      <${Card} item=${`task:${task.id}`} href=${taskHref(task)} name=${nameOf(task, state)} selected=${selected}
        current=${current} pending=${pending} flash=${state}>
        <div class="board-line">
          <${Glyph} state=${state} quiet />
          <span class="grow clip"><${Text} value=${titleOf(task).split("\n", 1)[0]} /></span>
          <span class="meta faint"><${Ago} at=${since(task, state)} /></span>
        </div>
        ${state === "failed" && task.note && html`
          <div class="board-note" data-state="failed"><${Text} value=${task.note} lines=${1} /></div>`}
      <//>
    </div>`;
}

// A card is drawn with the mouse to where it is to go: a column, if something can be done to the task that leads there,
// or an agent, who is to have it. What the keys and buttons do to the task is the same.

/** The task whose card is on its way. */
const dragged = signal(null);

/** What leads into a column, the best first; into the others only agents bring a task. */
const LEADING = {
  queued: ["release", "retry"], running: ["request_changes", "answer"], finished: ["approve_work", "complete"],
};

/** What would be done to the task that is on its way, if it were let go over a column; null: nothing can. */
function actionAt(column) {
  const task = dragged.value;
  if (!task || !may.value.write || columnOf(task.state) === column) return null;
  return TASK_ACTIONS.find((action) => LEADING[column]?.includes(action.id) && isAble(action, task)) ?? null;
}

const drag = (task) => ({ onDragStart: () => (dragged.value = task), onDragEnd: () => (dragged.value = null) });

/** What lets a card be dropped on an element. @param {((task: object) => any)|null|false} run null: it may not */
const dropped = (run) => ({
  onDragOver: (event) => run && event.preventDefault(),
  onDrop: (event) => {
    const task = dragged.value;
    event.preventDefault();
    dragged.value = null;
    if (run && task) run(task);
  },
});

/** Giving the task that is on its way to an agent; null: it cannot have it. */
function giveTo(agent) {
  const task = dragged.value;
  const reassign = TASK_ACTIONS.find(({ id }) => id === "reassign");
  if (!task || !may.value.write || task.assignee === agent || !isAble(reassign, task)) return null;
  return () => perform("reassign", task, { to: agent });
}

// One column of the board: its name, how many there are, and the cards that are near the visible part.

const ROW = 33; // pixels of a finished task
const CARD = 92; // pixels of a card with a title of one line, and the gap below it

/**
 * @param {object} props
 * @param {{name: string, glyph: string, cards: {task: object, state: string}[], items: any[]}} props.column
 * @param {object} props.look  what cards are drawn from: picture, links, letters, selected, current, pick
 * @param {boolean} props.isShown  the one that a phone has room for
 * @param {any} [props.aside]
 * @param {any} [props.children]
 */
function Column({ column, look, isShown, aside, children }) {
  const drawn = useRef(new Map());
  const title = t(`board.column_${column.name}`);
  const items = column.items.map((item) => (item.task ? { ...item, key: item.task.id } : item));
  const finished = column.name === "finished";
  const drop = actionAt(column.name);
  const frame = [`column is-${column.name}`, !items.length && "is-empty", drop && "is-open", isShown && "is-shown"];
  return html`
    <section class=${frame.filter(Boolean).join(" ")} aria-label=${title}
      ...${dropped(drop && ((task) => perform(drop.id, task)))}>
      <h2 class="column-head">
        <${Glyph} state=${column.glyph} quiet />
        <span class="column-name" title=${title}>${title}</span>${" "}
        <small class="num">${number(column.cards.length)}</small>
        ${aside && html`<small class="end">${aside}</small>`}
      </h2>
      <${Window} items=${items} guess=${finished ? ROW : CARD} label=${title}
        draw=${(item) => (item.task ? remembered(drawn.current, item, look, finished)
          : html`<${Heading} key=${item.key} ...${item} />`)}>
        ${items.length === 0 && html`<p class="faint" role="listitem"><span aria-hidden="true">–</span>
          <span class="sr">${t("board.nothing")}</span></p>`}
        ${children}
      <//>
    </section>`;
}

/** What the cards below it have in common. */
const Heading = ({ heading, count }) => html`<div class="board-group" role="listitem">
  <h3><bdi>${heading}</bdi> <span class="num faint">${number(count)}</span></h3></div>`;

/** The element of a card: the same object as the last time if nothing that it shows is another. */
function remembered(drawn, { task, state }, look, finished) {
  const shows = finished ? ofFinished(task, state, look) : ofCard(task, state, look);
  const before = drawn.get(task.id);
  if (before && same(before.shows, shows)) return before.element;
  const View = finished ? FinishedRow : TaskCard;
  const { holder, links, files, letters, ...props } = shows;
  const counts = { links, files, letters };
  const element = html`<${View} key=${task.id} ...${props} counts=${counts} picture=${look.picture}
    onPick=${(event) => look.pick(event, task.id)} />`;
  drawn.set(task.id, { shows, element });
  return element;
}

function ofFinished(task, state, { selected, current }) {
  return {
    task, state, selected: selected.has(task.id), current: current === task.id, pending: isPending(`tasks\n${task.id}`),
  };
}

function ofCard(task, state, look) {
  const agent = look.picture.agents.get(task.assignee);
  const atIt = agent?.live && agent.holds[0] === task.id;
  return {
    ...ofFinished(task, state, look),
    holder: agent?.state,
    links: look.links.get(task.id) ?? 0,
    files: (task.files ?? (atIt ? agent.files : null))?.length ?? 0,
    letters: look.letters.get(task.id) ?? 0,
    lonely: state === "queued" && !task.assignee && !look.isServed,
    progress: atIt && state === "running" ? agent.progress : null,
  };
}

function same(a, b) {
  return Object.keys(b).every((key) => a[key] === b[key]);
}

// What ended before what the picture holds: asked of the hub, page by page, when somebody wants to see it.

const PAGE = 50;
const LARGE_PAGE = 500;
const MINUTE = 60_000;

const finiteOf = (value) => (Number.isFinite(value) ? value : undefined);

/** How far back the column goes; of a time that was chosen, which. */
function FinishedSpan({ cards, finished }) {
  if (finished) return finishedWords(route.value.query.finished);
  const oldest = cards.at(-1)?.task.ended_at;
  if (!oldest || now.value - oldest < MINUTE) return null;
  return html`${t("board.last")} <${Span} from=${oldest} to=${now.value} />`;
}

/** The button, and what it brought; what ended in a time that was chosen comes without being asked for. */
function Older({ cards, look }) {
  const [pages, setPages] = useState({ tasks: [], done: false, busy: false });
  const isAble = !moment.value && look.hasOlder;
  const more = async () => {
    setPages({ ...pages, busy: true });
    setPages(await older(cards, pages.tasks, look.finished));
  };
  useEffect(() => {
    if (isAble && look.finished) more();
  }, []);
  if (!isAble || (cards.length === 0 && pages.done)) return null;
  const known = new Set(cards.map(({ task }) => task.id));
  return html`
    ${pages.tasks.filter((task) => !known.has(task.id)).map((task) => html`
      <${FinishedRow} key=${task.id} task=${task} state=${task.state}
        selected=${look.selected.has(task.id)} current=${look.current === task.id}
        onPick=${(event) => look.pick(event, task.id)} />`)}
    <div role="listitem" class="board-older">
      ${pages.done ? html`<span class="faint small">${t("board.no_older")}</span>`
        : html`<${Button} small kind="quiet" disabled=${pages.busy} onClick=${more}>${t("board.older")}<//>`}
    </div>`;
}

/** One page more of what ended, by number downwards; of a chosen time from its first on, as what is shown has gaps. */
async function older(cards, tasks, finished) {
  const shown = finished ? tasks : [...cards.map(({ task }) => task), ...tasks];
  const before = Math.min(...shown.map((task) => task.number));
  const limit = finished ? LARGE_PAGE : PAGE;
  const within = finished && { ended_since: finished.since, ended_before: finiteOf(finished.until) };
  const query = { ended: true, limit, before: finiteOf(before), ...within };
  try {
    const answer = await read.tasks(query);
    return { tasks: [...tasks, ...answer.tasks], done: answer.tasks.length < limit, busy: false };
  } catch (refused) {
    toast(sentence(refused, "errors.not_loaded"), { kind: "error" });
    return { tasks, done: false, busy: false };
  }
}

// The fleet in one row: a tile for each agent, by machine. A click shows only what has to do with that agent.

const MOST_OFFLINE = 24; // of a machine: agents that are gone for good must not hide those that are there

/** @param {{picture: import("../model/fold.js").Picture}} props */
function Strip({ picture }) {
  const chosen = parse(route.value.query.q).agent;
  const isOpen = useSignal(false);
  if (!picture.agents.size) return null;
  return html`
    <div class=${`strip ${isOpen.value ? "is-open" : ""}`} role="group" aria-label=${t("board.strip")}
      tabindex="0">
      <button type="button" class="strip-open" aria-expanded=${isOpen.value}
        onClick=${() => (isOpen.value = !isOpen.value)}><${Crew} picture=${picture} /></button>
      ${byMachine(picture.agents).map(([machine, crew]) => html`
        <div class="strip-machine" key=${machine} role="group" aria-label=${machine || t("board.elsewhere")}>
          <bdi class="strip-name">${machine || t("board.elsewhere")}</bdi>
          ${present(crew).map((agent) => html`
            <${TileButton} key=${agent.name} agent=${agent} picture=${picture} ...${dropped(giveTo(agent.name))}
              pressed=${chosen.includes(agent.name.toLowerCase())}
              onClick=${() => set({ q: toggle(route.value.query.q, "agent", agent.name) })} />`)}
        </div>`)}
    </div>`;
}

/** On a phone, what the row says as a whole; a tap shows it. */
function Crew({ picture }) {
  const states = Map.groupBy(picture.agents.values(), ({ state }) => state);
  return html`<span class="strong">${t("fleet.agents", { count: picture.agents.size })}</span>
    ${TOLD.filter((state) => states.has(state)).map((state) => html`<span class="row-tight" key=${state}>
      <${Glyph} agent state=${state} size=${14} /> <span class="num">${number(states.get(state).length)}</span>
    </span>`)}
    <${Icon} name="chevron-down" size=${14} />`;
}

const TOLD = ["working", "waiting", "blocked", "error", "stale"];

function present(crew) {
  let gone = 0;
  return crew.filter((agent) => agent.live || ++gone <= MOST_OFFLINE);
}

// The most urgent of what needs a person, in one row above the columns.

const SHOWN = 12;

function Attention() {
  const all = waiting.value;
  if (!all.length) return null;
  return html`
    <section class="attention scroll-x" aria-label=${t("board.attention")} tabindex="0">
      ${all.slice(0, SHOWN).map((need) => html`<${NeedCard} key=${need.key} need=${need} small />`)}
      ${all.length > 1 && html`<a class=${`attention-all ${all.length > SHOWN ? "is-more" : ""}`} href=${href("needs")}>
        <span>${t("board.all_needs", { count: all.length })}</span><${Icon} name="arrow-right" size=${14} /></a>`}
    </section>`;
}

// What can be done to all the cards that were chosen.

function Bulk() {
  if (!selected.value.size || !may.value.write) return null;
  const able = TASK_ACTIONS.filter((action) => action.bulk && chosen().some((task) => isAble(action, task)));
  const actions = able.map(({ id, icon, danger }) => ({
    label: t(`inspector.${id}`), icon, danger, run: () => performOnAll(id, chosen()).then(clearSelection),
  }));
  return html`<${BulkBar} actions=${actions} />`;
}

const chosen = () => [...selected.value].map((id) => shown.value.tasks.get(id)).filter(Boolean);

export function View() {
  const picture = shown.value;
  const { q, group, sort, finished } = route.value.query;
  const page = useRef(null);
  useList(page);
  useNeedKeys();
  useTaskKeys();
  useKey("x", "board.key_select", (item) => (taskOf(item) ? toggleSelected(taskOf(item).id) : false), { group: "act" });
  useKey("Escape", "keys.close", () => (selected.value.size ? clearSelection() : false), { group: "move" });
  useEffect(() => clearSelection, []);
  return html`
    <div class="board" ref=${page} onContextMenu=${hold}>
      <${Strip} picture=${picture} />
      <${Attention} />
      ${!loaded.value ? html`<div class="view"><${Skeleton} lines=${6} /></div>`
        : picture.tasks.size === 0 && !q ? html`<${NoTasks} />`
        : html`<${Columns} picture=${picture} typed=${q ?? ""} group=${group} sort=${sort}
            finished=${finished} />`}
      <${Bulk} />
    </div>`;
}

function Columns({ picture, typed, group, sort, finished: said }) {
  const query = useMemo(() => parse(typed), [typed]);
  const today = new Date(now.value).toDateString();
  const finished = useMemo(() => finishedIn(said, now.value), [said, today]);
  const columns = useMemo(
    () => columnsOf(picture, query, { group, sort, finished }),
    [picture.tasks, picture.overlaps, query, group, sort, finished, language.value],
  );
  const links = useMemo(() => linksOf(picture.tasks), [picture.tasks]);
  const letters = useMemo(() => lettersOf(picture.letters), [picture.letters]);
  const current = openTask(picture)?.id ?? null;
  const isServed = useMemo(() => isQueueServed(picture), [picture.agents]);
  const isOlder = useMemo(() => hasOlder(picture, finished?.since), [picture.tasks, finished]);
  const marks = { current, selected: selected.value, pick };
  const look = { picture, isServed, hasOlder: isOlder, finished, links, letters, ...marks };
  const tapped = useSignal(null);
  if (typed && !columns.some(({ cards }) => cards.length)) {
    return html`<${Empty} icon="filter" title=${t("board.none_match")} text=${t("fleet.none_match_text")} />`;
  }
  const isIn = ({ cards }) => cards.some(({ task }) => task.id === current);
  const filled = columns.find(isIn) ?? columns.find(({ cards }) => cards.length) ?? columns[0];
  const only = tapped.value ?? filled.name;
  return html`
    <div class="column-tabs" role="group" aria-label=${t("board.columns")}>
      ${columns.map(({ name, glyph, cards }) => html`<button type="button" key=${name} aria-pressed=${name === only}
        title=${t(`board.column_${name}`)} onClick=${() => (tapped.value = name)}><${Glyph} state=${glyph} quiet />
        <span class="sr">${t(`board.column_${name}`)}</span><span class="num">${number(cards.length)}</span></button>`)}
    </div>
    <div class="columns">
      ${columns.map((column) => (column.name === "finished"
        ? html`<${Column} key=${column.name} column=${column} look=${look} isShown=${only === column.name}
            aside=${html`<${FinishedSpan} cards=${column.cards} finished=${finished} />`}>
            <${Older} key=${said} cards=${column.cards} look=${look} />
          <//>`
        : html`<${Column} key=${column.name} column=${column} look=${look} isShown=${only === column.name} />`))}
    </div>`;
}

/** With a finger, a long press chooses a card. */
function hold(event) {
  const card = event.pointerType === "touch" && event.target.closest("[data-item^='task:']");
  if (!card) return;
  event.preventDefault();
  toggleSelected(card.dataset.item.slice(5));
}

/** With Shift or Ctrl a click chooses cards instead of opening one; after a long press a tap does. */
function pick(event, id) {
  const isTap = event.pointerType === "touch" && selected.value.size > 0;
  if (!isTap && !event.shiftKey && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  if (!event.shiftKey) return toggleSelected(id);
  const column = event.currentTarget.closest(".column-cards");
  const ids = [...column.querySelectorAll("[data-item^='task:']")].map((card) => card.dataset.item.slice(5));
  selectRange(ids, id);
}

function NoTasks() {
  return html`<${Empty} icon="layout-dashboard" title=${t("board.empty_title")} text=${t("board.empty_text")}
    command=${inProject('hubbub task add "Write a haiku"')} />`;
}

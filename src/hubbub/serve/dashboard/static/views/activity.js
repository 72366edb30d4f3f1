// The activity: what happened in the project, newest first. It grows at the top without moving what somebody reads,
// and goes back to the beginning of the log page by page.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { BAD, groupOf, GROUPS, iconOf, ROUTINE, WAITING } from "../model/event_kinds.js";
import { parse } from "../model/filter.js";
import { agents, inProject, moment, recent, shown } from "../model/store.js";
import { read } from "../hub/endpoints.js";
import { day, t } from "../i18n.js";
import { route, set } from "../shell/router.js";
import { Button, Chip, Icon } from "../ui/controls.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Field, Select } from "../ui/form.js";
import { Clock, Text } from "../ui/text.js";
import { Refusal } from "./fetching.js";
import { saidIn, Sentence } from "./sentences.js";
import { refOf } from "./task/actions.js";

// Which activities are asked for: by the chips of the view, and by what stands in the filter field. Pure.

/** @param {string|undefined} chosen the groups of the query, comma-separated; none means all */
const chosenGroups = (chosen) => new Set((chosen ?? "").split(",").filter(Boolean));

/**
 * @param {object} activity
 * @param {Record<string, string>} query `kinds`, `routine`, `agent`, `about` (a task's number or id)
 * @param {{words: string[], agent: string[], area: string[]}} filter of the filter field
 * @param {{tasks: Map<string, object>}} picture
 */
function isWanted(activity, query, filter, picture) {
  const groups = chosenGroups(query.kinds);
  if (groups.size && !groups.has(groupOf(activity.kind))) return false;
  if (ROUTINE.has(activity.kind) && !query.routine) return false;
  const task = activity.task_id ? picture.tasks.get(activity.task_id) : null;
  if (query.agent && !isOf(activity, query.agent)) return false;
  if (query.about && !isAbout(activity, query.about)) return false;
  if (filter.agent.length && !filter.agent.some((name) => isOf(activity, name))) return false;
  if (filter.area.length && !filter.area.includes(task?.area?.toLowerCase())) return false;
  return filter.words.length === 0 || says(activity, task, filter.words);
}

const isOf = ({ actor, agent }, name) =>
  [actor, agent].some((each) => each?.toLowerCase() === name.toLowerCase());

const isAbout = ({ task_id: id, detail }, ref) =>
  id === ref || (id && String(detail.number) === ref.replace(/^T-|^#/i, ""));

function says({ kind, actor, agent, detail }, task, words) {
  const parts = [kind, actor, agent, task?.title, task && refOf(task), JSON.stringify(detail)];
  const text = parts.join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

// The chips and fields above the feed. All of them stand in the address.

const OURS = ["kinds", "routine", "agent", "about"];
const NONE = Object.fromEntries(OURS.map((key) => [key, null]));

const change = (changes) => set(changes, { replace: true });

function toggle(group) {
  const groups = chosenGroups(route.value.query.kinds);
  if (!groups.delete(group)) groups.add(group);
  change({ kinds: [...groups].join(",") });
}

function Filters() {
  const { query } = route.value;
  const groups = chosenGroups(query.kinds);
  const names = [...agents.value.keys()].sort();
  const options = [
    { value: "", label: t("activity.anyone") },
    ...names.map((name) => ({ value: name, label: name })),
  ];
  if (query.agent && !agents.value.has(query.agent)) options.push({ value: query.agent, label: query.agent });
  return html`<div class="view-head activity-filters">
    <div class="activity-kinds" role="group" aria-label=${t("activity.kinds")}>
      ${Object.keys(GROUPS).map((group) => html`<${Chip} key=${group} pressed=${groups.has(group)}
        onClick=${() => toggle(group)}>${t(`activity.group_${group}`)}<//>`)}
      <${Chip} pressed=${Boolean(query.routine)}
        onClick=${() => change({ routine: query.routine ? null : "1" })}>${t("activity.routine")}<//>
    </div>
    <div class="row">
      <${Select} label=${t("activity.who")} value=${query.agent ?? ""} options=${options}
        onInput=${(event) => change({ agent: event.target.value })} />
      <${Field} label=${t("activity.task")} placeholder="T-12" size="6" value=${query.about ?? ""}
        onChange=${(event) => change({ about: event.target.value.trim().replace(/^T-|^#/i, "") })} />
      ${OURS.some((key) => query[key])
        && html`<${Button} kind="quiet" icon="x" onClick=${() => change(NONE)}>${t("activity.clear")}<//>`}
    </div>
  </div>`;
}

// The rows of the feed: a day, a sign, a sentence, a time; and all that the log has of it when it is opened.

const MOST_DETAIL = 20_000; // characters of one detail

function toneOf({ kind, detail }) {
  if (BAD.has(kind) || detail.code) return "is-failed";
  return WAITING.has(kind) ? "is-waiting" : "";
}

/** All that the log has of an activity. @param {{activity: object}} props */
export function Detail({ activity }) {
  const { patch: _patch, ...told } = activity;
  const text = JSON.stringify(told, null, 2).slice(0, MOST_DETAIL);
  const name = t("activity.detail", { id: String(activity.id) });
  return html`<pre class="activity-detail" tabindex="0" aria-label=${name}><bdi>${text}</bdi></pre>`;
}

/** One activity. @param {{activity: object}} props */
function Row({ activity }) {
  const [isOpen, setIsOpen] = useState(false);
  const said = saidIn(activity);
  return html`<li class=${`activity-row ${toneOf(activity)}`}>
    <div class="activity-line">
      <span class="activity-time"><${Clock} at=${activity.at} /></span>
      <${Icon} name=${iconOf(activity.kind)} size=${15} />
      <div class="activity-text"><${Sentence} activity=${activity} />
        ${said && html`<${Text} class="activity-said" value=${said} lines=${1} />`}</div>
      <button class="activity-open" type="button" aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}
        aria-label=${t("activity.detail", { id: String(activity.id) })}>
        <${Icon} name=${isOpen ? "chevron-up" : "chevron-down"} size=${14} /></button>
    </div>
    ${isOpen && html`<${Detail} activity=${activity} />`}
  </li>`;
}

/** Rows by day, newest first. @param {{activities: object[]}} props */
function Feed({ activities }) {
  const days = Map.groupBy(activities, ({ at }) => new Date(at).toDateString());
  return html`<div class="feed" role="region" aria-label=${t("activity.feed")}>
    ${[...days].map(([name, rows]) => html`<section key=${name}>
      <h2 class="feed-day">${day(rows[0].at)}</h2>
      <ol>${rows.map((activity) => html`<${Row} key=${activity.id} activity=${activity} />`)}</ol>
    </section>`)}
  </div>`;
}

// The log as far as it is loaded: what the stream has brought, and before that pages that are fetched when asked for.

const PAGE = 200;

/** Oldest first, each once: pages may overlap what the stream has brought. */
function merged(pages, live) {
  const known = new Map([...pages, ...live].map((activity) => [activity.id, activity]));
  return [...known.values()].sort((one, other) => one.id - other.id);
}

/**
 * What is loaded, with `more()` for the page before it. The hub filters by agent and task, so that rare ones are found.
 * @param {Record<string, string>} query
 * @param {number} until the moment that is shown
 */
function useLog({ agent, about }, until) {
  const [pages, setPages] = useState([]);
  const [isComplete, setIsComplete] = useState(false);
  const [isLoading, setIsLoading] = useState(true); // the first page is asked for at once
  const [error, setError] = useState(null);
  const turn = useRef(0);
  const load = async (before) => {
    const mine = (turn.current += 1);
    setIsLoading(true);
    const asked = { limit: PAGE, agent: agent || null, task: about || null, before };
    const answer = await read.activity(asked).catch((refusal) => ({ refusal }));
    if (mine !== turn.current) return;
    setIsLoading(false);
    setError(answer.refusal ?? null);
    if (answer.refusal) return;
    setPages((known) => [...answer.activity, ...known]);
    setIsComplete(answer.activity.length < PAGE);
  };
  const isFar = Number.isFinite(until) && until < (recent.value[0]?.id ?? 0);
  useEffect(() => {
    setPages([]);
    load(isFar ? until + 1 : null);
    return () => { turn.current += 1; };
  }, [agent, about, isFar]);
  const activities = useMemo(() => merged(pages, recent.value), [pages, recent.value]);
  const oldest = pages.reduce((least, { id }) => Math.min(least, id), Infinity);
  const more = () => !isComplete && !isLoading && load(Number.isFinite(oldest) ? oldest : null);
  return { activities, isComplete, isLoading, error, more };
}

const STEP = 150; // rows that are added by one click

/** The newest that is shown: while somebody reads further down, what comes after waits behind a button. */
function useHold(box) {
  const [held, setHeld] = useState(null);
  useLayoutEffect(() => {
    const scroller = box.current.closest("main") ?? document.scrollingElement;
    const look = () => {
      const isReading = scroller.scrollTop > 48;
      setHeld((before) => (isReading ? before ?? recent.value.at(-1)?.id ?? 0 : null));
    };
    scroller.addEventListener("scroll", look, { passive: true });
    return () => scroller.removeEventListener("scroll", look);
  }, []);
  const follow = () => {
    (box.current.closest("main") ?? document.scrollingElement).scrollTop = 0;
    setHeld(null);
  };
  return { held, follow };
}

/** What matches, newest first, up to the moment that is shown. */
function matching(activities, query, picture, until) {
  const filter = parse(query.q ?? "");
  const wanted = activities
    .filter((activity) => activity.id <= until && isWanted(activity, query, filter, picture))
    .reverse();
  return folded(wanted);
}

/**
 * A message to everyone is one row, however many it reached: `reached` of that row names them. Pure.
 * @param {object[]} rows
 */
export function folded(rows) {
  const arrivals = Map.groupBy(rows.filter(({ kind }) => kind === "message.delivered"), (row) => row.message_id);
  const sent = new Set(rows.filter(({ kind }) => kind === "message.sent").map((row) => row.message_id));
  return rows.flatMap((row) => {
    const reached = arrivals.get(row.message_id);
    if (!reached) return [row];
    const isFirst = row.kind === "message.sent" || (!sent.has(row.message_id) && row === reached[0]);
    return isFirst ? [{ ...row, reached: reached.map(({ agent }) => agent).sort() }] : [];
  });
}

export function View() {
  const { query } = route.value;
  const box = useRef(null);
  const { held, follow } = useHold(box);
  const [most, setMost] = useState(STEP);
  const until = moment.value?.id ?? Infinity;
  const older = useLog(query, until);
  const all = older.activities;
  const picture = shown.value;
  const rows = useMemo(() => matching(all, query, picture, until), [all, query, picture, until]);
  const there = held === null ? rows : rows.filter(({ id }) => id <= held);
  const news = rows.length - there.length;
  const more = () => {
    setMost(most + STEP);
    if (there.length <= most + STEP) older.more();
  };
  return html`<div class="view activity" ref=${box}>
    <${Filters} />
    ${news > 0 && html`<div class="activity-news"><${Button} kind="primary" icon="arrow-up" small
      onClick=${follow}>${t("activity.new", { count: news })}<//></div>`}
    ${there.length > 0 && html`<${Feed} activities=${there.slice(0, most)} />`}
    ${there.length === 0 && !older.isLoading && html`<${Nothing} isFiltered=${all.length > 0} />`}
    ${older.error && html`<${Refusal} error=${older.error} />`}
    ${older.isLoading && html`<${Skeleton} lines=${3} />`}
    <div class="list-end">${older.isComplete && there.length <= most
      ? html`<span class="small muted">${t("activity.beginning")}</span>`
      : html`<${Button} disabled=${older.isLoading} onClick=${more}>${t("activity.earlier")}<//>`}</div>
  </div>`;
}

function Nothing({ isFiltered }) {
  if (isFiltered) return html`<${Empty} icon="filter" title=${t("activity.no_match")} />`;
  return html`<${Empty} icon="activity" title=${t("activity.empty")} text=${t("activity.empty_text")}
    command=${inProject('hubbub task add "Write a haiku"')} />`;
}

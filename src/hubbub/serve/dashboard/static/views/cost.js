// Cost: what the agents used, in tokens and by an estimate in money, over time and by agent, task, model, …; as it was
// at the moment that is shown. What nobody has told of is unmetered, which is not nothing.

import { html, useComputed } from "../vendor/ui.js";
import { install, now } from "../model/store.js";
import { link, read } from "../hub/endpoints.js";
import { day, hourAndMinute, money, number, span, t } from "../i18n.js";
import { route, set } from "../shell/router.js";
import { Button, Chip } from "../ui/controls.js";
import { Empty } from "../ui/empty.js";
import { Budgets } from "./budgets.js";
import { Fetched, useFetched } from "./fetching.js";

const BY = ["agent", "task", "model", "day", "run", "machine", "client"];
const DAYS = [1, 7, 30, 90];
const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;

// The plot: a bar for each hour or day, of money where a price is known, else of tokens.

/** The beginning of each step, oldest first; the last is the one that is under way. */
function steps(since, until, step) {
  const first = Math.floor(since / step) * step;
  return Array.from({ length: Math.ceil((until - first) / step) }, (_, count) => first + count * step);
}

/** How much of what is shown was used in each step. */
function heights(lines, starts, isMoney) {
  const sums = new Map(starts.map((at) => [at, 0]));
  for (const line of lines) {
    if (sums.has(line.at)) sums.set(line.at, sums.get(line.at) + ((isMoney ? line.usd : line.tokens) ?? 0));
  }
  return [...sums.values()];
}

/** @param {{values: number[], width: number, height: number, gap: number}} props bars, as high as the highest allows */
function Bars({ values, width, height, gap }) {
  const most = Math.max(...values, 0);
  const each = width / values.length;
  const bar = (value, place) => {
    const high = most ? Math.max(1, (value / most) * height) : 0;
    return value > 0 && html`<rect key=${place} x=${place * each} y=${height - high}
      width=${Math.max(1, each - gap)} height=${high} />`;
  };
  return html`<svg class="bars" viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
    ${values.map(bar)}</svg>`;
}

/** @param {{word: string, values: number[], starts: number[], step: number, write: (value: number) => string}} props */
function Plot({ word, values, starts, step, write }) {
  const most = write(Math.max(...values, 0));
  const named = (at) => (step === HOUR ? hourAndMinute(at) : day(at, "UTC")); // days are those of UTC
  return html`<figure class="plot">
    <figcaption class="small muted">${t(`cost.${word}_by_${step === HOUR ? "hour" : "day"}`, { most })}</figcaption>
    <${Bars} values=${values} width=${600} height=${80} gap=${2} />
    <div class="plot-ends meta num"><span>${named(starts[0])}</span><span>${named(starts.at(-1))}</span></div>
  </figure>`;
}

/** What the work came to beside what it cost: tasks that ended, and how long they had waited. */
function Work({ steps: told, ...time }) {
  const { starts } = time;
  const at = new Map(told.map((each) => [each.at, each]));
  const values = (name) => starts.map((start) => at.get(start)?.[name] ?? 0);
  if (!told.length) return null;
  return html`
    <${Plot} word="ended" values=${values("ended")} ...${time} write=${number} />
    ${told.some((each) => each.waited_ms !== null) && html`
      <${Plot} word="waited" values=${values("waited_ms")} ...${time} write=${span} />`}`;
}

// The table: a line for each agent, task, …, with its own course.

const NUMBERS = ["input", "output", "cache_read", "cache_written"];

/** What that is worth, as far as a price is known. */
const worth = ({ usd }) => (usd === null ? t("cost.no_price") : money(usd));

function Line({ line, values }) {
  const name = line.label ?? line.name ?? t("cost.nobody");
  if (line.unmetered) {
    return html`<tr><td class="clip"><bdi>${name}</bdi></td>
      <td class="num muted">${t("cost.unmetered")}</td><td colspan="5"></td></tr>`;
  }
  return html`<tr><td class="clip"><bdi>${name}</bdi></td>
    <td class="num nowrap">${worth(line)}
      ${line.usd !== null && line.unpriced > 0 && html`<span class="muted"> ${t("cost.and_more")}</span>`}</td>
    ${NUMBERS.map((key) => html`<td key=${key} class="num nowrap"
      data-label=${t(`cost.${key}`)}>${number(line[key])}</td>`)}
    ${values && html`<td><${Bars} values=${values} width=${90} height=${16} gap=${1} /></td>`}</tr>`;
}

/** The dearest first; of days the newest, which have no course of their own. */
function Lines({ by, cost, courses, starts, isMoney }) {
  const isDays = by === "day";
  const lines = isDays ? [...cost.lines].sort((one, other) => other.name.localeCompare(one.name)) : cost.lines;
  const courseOf = (name) => heights(courses.filter((line) => line.name === name), starts, isMoney);
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("cost.lines")}>
    <table class="table cost-table"><thead><tr><th>${t(`cost.one_${by}`)}</th><th>${t("cost.estimate")}</th>
      ${NUMBERS.map((key) => html`<th key=${key}>${t(`cost.${key}`)}</th>`)}
      ${!isDays && html`<th>${t("cost.course")}</th>`}</tr></thead>
    <tbody>${lines.map((line) => html`<${Line} key=${line.name} line=${line}
        values=${isDays ? null : courseOf(line.name)} />`)}
      ${cost.unmetered.map((line) => html`<${Line} key=${line.name} line=${line} />`)}</tbody></table></div>`;
}

const tokens = (count) => t("cost.some_tokens", { count });

function Total({ total }) {
  if (total.unmetered) return null;
  return html`<p class="cost-total"><strong class="num">${worth(total)}</strong>
    <span class="muted">${t("cost.is_estimate")}</span>
    <span class="num">${t("cost.some_tokens", { count: total.tokens })}</span>
    ${total.unpriced > 0 && html`<span class="muted">${t("cost.unpriced", { count: total.unpriced })}</span>`}</p>`;
}

function Choices({ by, days, asked }) {
  return html`<div class="view-head">
    <div class="row wrap grow" role="group" aria-label=${t("cost.shown_by")}>
      ${BY.map((one) => html`<${Chip} key=${one} pressed=${one === by}
        onClick=${() => set({ by: one }, { replace: true })}>${t(`cost.one_${one}`)}<//>`)}
    </div>
    <div class="row" role="group" aria-label=${t("cost.period")}>
      ${DAYS.map((count) => html`<${Chip} key=${count} pressed=${count === days}
        onClick=${() => set({ days: count }, { replace: true })}>${t("cost.days", { count })}<//>`)}
    </div>
    <${Button} icon="download" href=${link.cost(asked)} download>${t("audit.csv")}<//>
  </div>`;
}

export function View() {
  const { query } = route.value;
  const by = BY.includes(query.by) ? query.by : "agent";
  const days = DAYS.includes(Number(query.days)) ? Number(query.days) : 30;
  const step = days === 1 ? "hour" : "day";
  const until = useComputed(() => (Math.floor(now.value / MINUTE) + 1) * MINUTE).value; // the minute that is shown
  const asked = { by, since: until - days * DAY, until };
  const found = useFetched(async () => {
    const { since } = asked;
    const [cost, course, work] = await Promise.all([
      read.cost(asked), read.cost({ ...asked, step }), read.throughput({ since, until, step }),
    ]);
    return { by, cost, course, work };
  }, [by, days, until]);
  const limits = useFetched(() => read.budgets(), [until], ["budget."]);
  return html`<div class="view cost">
    <${Fetched} of=${limits}>${({ budgets }) => html`
      <${Budgets} budgets=${budgets} asked=${query.raise} onDone=${limits.again} />`}<//>
    <${Choices} by=${by} days=${days} asked=${asked} />
    <${Fetched} of=${found}>${({ by: shown, cost, course, work }) => {
      const long = step === "hour" ? HOUR : DAY;
      const starts = steps(cost.since, cost.until, long);
      const done = html`<${Work} steps=${work.steps} starts=${starts} step=${long} />`;
      if (cost.total.unmetered && !cost.unmetered.length) {
        return html`<div class="plots">${done}</div>
          <${Empty} icon="timer" title=${t("cost.empty")} text=${t("cost.empty_text")}
          command=${install()} />`;
      }
      const isMoney = cost.total.usd !== null;
      return html`<${Total} total=${cost.total} />
        <div class="plots">
          ${!cost.total.unmetered && html`<${Plot} word="used" values=${heights(course.lines, starts, isMoney)}
            starts=${starts} step=${long} write=${isMoney ? money : tokens} />`}
          ${done}
        </div>
        <${Lines} by=${shown} cost=${cost} courses=${course.lines} starts=${starts} isMoney=${isMoney} />`;
    }}<//>
  </div>`;
}

// The activity: what happened in the project, newest first. It grows at the top without moving what somebody reads,
// and goes back to the beginning of the log page by page.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { t } from "../words.js";
import { inProject, moment, recent, shown } from "../model/moment.js";
import { parse } from "../model/filter.js";
import { route } from "../shell/router.js";
import { Button } from "../ui/button.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Feed } from "./activity/feed.js";
import { Filters } from "./activity/filters.js";
import { isWanted } from "./activity/wanted.js";
import { useOlder } from "./activity/older.js";
import { Refusal } from "./fetched.js";

const STEP = 150; // rows that are added by one click

/** The newest that is shown: while somebody reads further down, what comes after waits behind a button. */
function useHold(box) {
  const [held, setHeld] = useState(null);
  useEffect(() => {
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
  return activities
    .filter((activity) => activity.id <= until && isWanted(activity, query, filter, picture))
    .reverse();
}

export function View() {
  const { query } = route.value;
  const box = useRef(null);
  const { held, follow } = useHold(box);
  const [most, setMost] = useState(STEP);
  const until = moment.value?.id ?? Infinity;
  const older = useOlder(query, until);
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

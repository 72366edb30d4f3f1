// The rows of the feed: a day, a sign, a sentence, a time; and all that the log has of it when it is opened.
import { html, useState } from "../../vendor/ui.js";
import { day, t } from "../../words.js";
import { Clock } from "../../ui/ago.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { BAD, iconOf, WAITING } from "../../model/kinds.js";
import { saidIn, Sentence } from "./sentence.js";

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
export function Feed({ activities }) {
  const days = Map.groupBy(activities, ({ at }) => new Date(at).toDateString());
  return html`<div class="feed" role="region" aria-label=${t("activity.feed")}>
    ${[...days].map(([name, rows]) => html`<section key=${name}>
      <h2 class="feed-day">${day(rows[0].at)}</h2>
      <ol>${rows.map((activity) => html`<${Row} key=${activity.id} activity=${activity} />`)}</ol>
    </section>`)}
  </div>`;
}

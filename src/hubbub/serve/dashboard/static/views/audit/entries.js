// The entries as a table; of an answer to a machine's question also how long it took.
import { html, useState } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { Moment, Span } from "../../ui/ago.js";
import { IconButton } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { BAD, iconOf } from "../../model/kinds.js";
import { Detail } from "../activity/feed.js";
import { saidIn, Sentence } from "../activity/sentence.js";

const ANSWERS = new Set(["approval.approved", "approval.denied"]);

/** When each question was asked, as far as it is among the entries. */
function questions(entries) {
  const asked = entries.filter(({ kind }) => kind === "approval.asked");
  return new Map(asked.map(({ detail, at }) => [detail.approval_id, at]));
}

function Entry({ entry, askedAt }) {
  const [isOpen, setIsOpen] = useState(false);
  const said = saidIn(entry);
  return html`<tr class=${BAD.has(entry.kind) ? "is-failed" : ""}>
      <td class="nowrap num"><${Moment} at=${entry.at} /></td>
      <td class="clip"><bdi>${entry.actor}</bdi></td>
      <td><span class="audit-what"><${Icon} name=${iconOf(entry.kind)} size=${15} /><span class="grow">
        <${Sentence} activity=${entry} />
        ${said && html`<${Text} class="activity-said mono" value=${said} lines=${2} />`}</span></span></td>
      <td class="nowrap">${askedAt && ANSWERS.has(entry.kind)
        && html`<${Span} from=${askedAt} to=${entry.at} />`}</td>
      <td><${IconButton} kind="quiet" small icon=${isOpen ? "chevron-up" : "chevron-down"}
        label=${t("activity.detail", { id: String(entry.id) })} aria-expanded=${isOpen}
        onClick=${() => setIsOpen(!isOpen)} /></td>
    </tr>
    ${isOpen && html`<tr><td colspan="5"><${Detail} activity=${entry} /></td></tr>`}`;
}

/** @param {{entries: object[]}} props newest first */
export function Entries({ entries }) {
  const asked = questions(entries);
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("audit.entries")}>
    <table class="table audit-table"><thead><tr>
      ${["when", "who", "what", "took"].map((key) => html`<th key=${key}>${t(`audit.${key}`)}</th>`)}
      <th><span class="sr">${t("audit.more")}</span></th>
    </tr></thead><tbody>${entries.map((entry) => html`<${Entry} key=${entry.id} entry=${entry}
      askedAt=${asked.get(entry.detail.approval_id)} />`)}</tbody></table></div>`;
}

// The audit: who allowed, made, changed and typed what, from the log; and whether the machines' own logs hold.

import { html, useEffect, useState } from "../vendor/ui.js";
import { BAD, iconOf } from "../model/event_kinds.js";
import { could, moment } from "../model/store.js";
import { link, read } from "../hub/endpoints.js";
import { t } from "../i18n.js";
import { route, set } from "../shell/router.js";
import { Button, Chip, Icon, IconButton } from "../ui/controls.js";
import { Empty } from "../ui/empty.js";
import { Ago, Moment, Span, Text } from "../ui/text.js";
import { Detail } from "./activity.js";
import { existed, Fetched, useFetched } from "./fetching.js";
import { saidIn, Sentence } from "./sentences.js";

// The entries as a table; of an answer to a machine's question also how long it took.

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
        ${askedAt && ANSWERS.has(entry.kind) && html`<span class="faint"> · ${t("audit.took")}${" "}
          <${Span} from=${askedAt} to=${entry.at} /></span>`}
        ${said && html`<${Text} class="activity-said mono" value=${said} lines=${2} />`}</span></span></td>
      <td><${IconButton} kind="quiet" small icon=${isOpen ? "chevron-up" : "chevron-down"}
        label=${t("activity.detail", { id: String(entry.id) })} aria-expanded=${isOpen}
        onClick=${() => setIsOpen(!isOpen)} /></td>
    </tr>
    ${isOpen && html`<tr><td colspan="4"><${Detail} activity=${entry} /></td></tr>`}`;
}

/** @param {{entries: object[]}} props newest first */
function Entries({ entries }) {
  const asked = questions(entries);
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("audit.entries")}>
    <table class="table audit-table"><thead><tr>
      ${["when", "who", "what"].map((key) => html`<th key=${key}>${t(`audit.${key}`)}</th>`)}
      <th><span class="sr">${t("audit.more")}</span></th>
    </tr></thead><tbody>${entries.map((entry) => html`<${Entry} key=${entry.id} entry=${entry}
      askedAt=${asked.get(entry.detail.approval_id)} />`)}</tbody></table></div>`;
}

// Whether the audit logs that the machines keep themselves hold beside what they told before. For who manages.

/** Of each machine its farthest head, and whether any is broken; broken ones first. */
function byMachine(heads) {
  const machines = new Map();
  for (const head of heads) {
    const known = machines.get(head.node) ?? { node: head.node, latest: null, broken: null };
    if (head.broken) known.broken ??= head;
    else if (!known.latest || head.seq > known.latest.seq) known.latest = head;
    machines.set(head.node, known);
  }
  return [...machines.values()].sort((one, other) =>
    Number(Boolean(other.broken)) - Number(Boolean(one.broken)) || one.node.localeCompare(other.node));
}

function Head({ machine: { node, latest, broken } }) {
  const last = latest ?? broken;
  return html`<li class=${`head ${broken ? "is-broken" : ""}`}>
    <${Icon} name=${broken ? "shield-alert" : "shield-check"} size=${18} />
    <span class="grow"><strong class="clip"><bdi>${node}</bdi></strong>
      <span class="small">${broken ? t("audit.broken", { seq: broken.seq }) : t("audit.holds", { seq: last.seq })}
        ${" · "}<${Ago} at=${(broken ?? last).at} /></span>
      <code class="meta clip">${last.hash}</code></span>
  </li>`;
}

function Heads() {
  const isMine = could.value.manage;
  const heads = useFetched(async () => (isMine ? read.auditHeads() : { heads: [] }), [isMine], ["audit."]);
  if (!isMine) return null;
  return html`<section class="stack" aria-label=${t("audit.heads")}>
    <h2 class="section-title">${t("audit.heads")}</h2>
    <${Fetched} of=${heads}>${(found) => {
      const machines = byMachine(existed(found.heads, "at"));
      if (!machines.length) return html`<p class="small muted">
        ${t("audit.no_heads")} <code>hubbub audit verify</code></p>`;
      return html`<ul class="heads">${machines.map((machine) => html`<${Head} key=${machine.node}
        machine=${machine} />`)}</ul>`;
    }}<//>
  </section>`;
}

const GROUPS = ["approvals", "tokens", "terminal", "config", "logins"];
const PAGE = 100;
/** Beginnings of the kinds that make an entry. */
const NEWS = [
  "approval.", "token.", "terminal.", "area.", "webhook.", "user.", "project.", "member.", "key.", "share.",
  "node.", "login.", "audit.",
];

/** Pages of entries, newest first: the first is read again when something of the kind happens. */
function useEntries(asked) {
  const first = useFetched(() => read.auditEntries({ ...asked, limit: PAGE }), Object.values(asked), NEWS);
  const [more, setMore] = useState([]);
  useEffect(() => setMore([]), Object.values(asked));
  const pages = [first.value, ...more].filter(Boolean);
  const known = new Map(pages.flatMap((page) => page.entries).map((entry) => [entry.id, entry]));
  const next = pages.at(-1)?.next ?? null;
  const goOn = async () => {
    const page = await read.auditEntries({ ...asked, before: next, limit: PAGE });
    setMore((before) => [...before, page]);
  };
  return { first, entries: [...known.values()], next, goOn };
}

function Filters({ kind }) {
  const choose = (group) => set({ kind: group === kind ? null : group }, { replace: true });
  const exported = (ending) => link.auditExport(ending, { kind: kind ?? null });
  return html`<div class="view-head">
    <div class="row wrap grow" role="group" aria-label=${t("audit.kinds")}>
      ${GROUPS.map((group) => html`<${Chip} key=${group} pressed=${group === kind}
        onClick=${() => choose(group)}>${t(`audit.group_${group}`)}<//>`)}
    </div>
    <${Button} icon="download" href=${exported("csv")} download>${t("audit.csv")}<//>
    <${Button} icon="download" href=${exported("jsonl")} download>${t("audit.jsonl")}<//>
  </div>`;
}

export function View() {
  const { kind, q } = route.value.query;
  const asked = { kind: kind ?? null, before: moment.value ? moment.value.id + 1 : null };
  const { first, entries, next, goOn } = useEntries(asked);
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const meets = (entry) => words.every((word) => JSON.stringify(entry).toLowerCase().includes(word));
  const shown = words.length ? entries.filter(meets) : entries;
  return html`<div class="view audit">
    <${Heads} />
    <${Filters} kind=${kind} />
    <${Fetched} of=${first}>${() => (shown.length
      ? html`<${Entries} entries=${shown} />`
      : html`<${Empty} icon="scroll-text" title=${t("audit.empty")} text=${t("audit.empty_text")} />`)}<//>
    ${next !== null && html`<div class="list-end"><${Button} onClick=${goOn}>${t("audit.earlier")}<//></div>`}
  </div>`;
}

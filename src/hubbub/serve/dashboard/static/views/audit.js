// The audit: who allowed, made, changed and typed what, from the log; and whether the machines' own logs hold.
import { html, useEffect, useState } from "../vendor/ui.js";
import { t } from "../words.js";
import { link, read } from "../hub/reads.js";
import { moment } from "../model/moment.js";
import { route, set } from "../shell/router.js";
import { Button } from "../ui/button.js";
import { Chip } from "../ui/chip.js";
import { Empty } from "../ui/empty.js";
import { Fetched, useFetched } from "./fetched.js";
import { Entries } from "./audit/entries.js";
import { Heads } from "./audit/heads.js";

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

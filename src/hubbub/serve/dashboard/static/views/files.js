// Files: who works on what, and where two are in each other's way. Conflicts come first.

import { computed, html, signal, useMemo, useRef } from "../vendor/ui.js";
import { isEmpty, matches, parse } from "../model/filter.js";
import { agents, inProject, loaded, overlaps, shown, tasks } from "../model/moment.js";
import { useList } from "../shell/moving.js";
import { route, set } from "../shell/router.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { Icon } from "../ui/icon.js";
import { t } from "../words.js";
import { claims } from "./files/claims.js";
import { FileList } from "./files/list.js";
import { MARK_ICONS, Matrix } from "./files/matrix.js";
import { RowPanel } from "./files/panel.js";

const wide = matchMedia("(min-width: 760px)");
const isWide = signal(wide.matches);
wide.addEventListener("change", () => (isWide.value = wide.matches));

/** Made anew only when something of these nouns changed. */
const all = computed(() => claims({ agents: agents.value, tasks: tasks.value, overlaps: overlaps.value }));

export function View() {
  const { q, file } = route.value.query;
  const page = useRef(null);
  useList(page);
  const query = useMemo(() => parse(q), [q]);
  const { rows, claimed, conflicts } = all.value;
  if (!loaded.value) return html`<div class="view"><${Skeleton} /></div>`;
  if (rows.length === 0) {
    return html`<${Empty} icon="folder-tree" title=${t("files.empty")} text=${t("files.empty_text")}
      command=${inProject("hubbub install claude-code")} />`;
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
        ${t("files.claimed", { count: claimed })}, ${t("files.conflicts", { count: conflicts })}</span>
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

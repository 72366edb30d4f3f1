// The first screen: everything that waits for a person, the most urgent first.

import { html, useRef, useState } from "../vendor/ui.js";
import { matches, parse } from "../model/filter.js";
import { inProject, loaded, shown } from "../model/moment.js";
import { useList } from "../shell/moving.js";
import { route } from "../shell/router.js";
import { Button } from "../ui/button.js";
import { Empty, Skeleton } from "../ui/empty.js";
import { t } from "../words.js";
import { NeedCard } from "./needs/card.js";
import { useNeedKeys } from "./needs/keys.js";
import { waiting } from "../model/waiting.js";

/** The kinds by urgency: somebody is held up; work is in danger or lost; it takes longer than it should. */
const GROUPS = [
  { name: "held_up", kinds: ["approval", "question", "letter", "expired"] },
  { name: "in_danger", kinds: ["stale", "conflict", "failed"] },
  { name: "late", kinds: ["late"] },
];
const AT_FIRST = 30;

export function View() {
  const page = useRef(null);
  useList(page);
  useNeedKeys();
  const all = asked(waiting.value, route.value.query.q, shown.value);
  return html`
    <div class="view needs" ref=${page}>
      ${!loaded.value ? html`<${Skeleton} lines=${6} />`
        : all.length ? GROUPS.map(({ name, kinds }) => html`
            <${Group} key=${name} name=${name} needs=${all.filter((need) => kinds.includes(need.kind))} />`)
          : html`<${Nothing} />`}
    </div>`;
}

/** Those that the filter asks for: by their task, else by their agent, else by the files that two share. */
function asked(needs, typed, picture) {
  if (!typed) return needs;
  const query = parse(typed);
  return needs.filter(({ task, agent, overlap }) => {
    const card = task ?? agent ?? (overlap && { path: overlap.files.join("\n"), agents: overlap.agents });
    return card && matches(card, query, picture);
  });
}

function Group({ name, needs }) {
  const [most, setMost] = useState(AT_FIRST);
  if (!needs.length) return null;
  const title = t(`needs.group_${name}`);
  return html`
    <section class="need-group" aria-label=${title}>
      <h2 class="section-title">${title} <small class="num">${needs.length}</small></h2>
      <div class="need-list">
        ${needs.slice(0, most).map((need) => html`<${NeedCard} key=${need.key} need=${need} />`)}
      </div>
      ${needs.length > most && html`
        <${Button} kind="quiet" onClick=${() => setMost(most + AT_FIRST)}>
          ${t("needs.more", { count: needs.length - most })}<//>`}
    </section>`;
}

/** Nobody waits; or there is nobody yet who could. */
function Nothing() {
  if (route.value.query.q) {
    return html`<${Empty} icon="filter" title=${t("needs.filtered_title")} text=${t("needs.filtered_text")} />`;
  }
  if (!shown.value.agents.size) {
    return html`<${Empty} icon="bot" title=${t("needs.first_title")} text=${t("needs.first_text")}
      command=${inProject("hubbub work ember --run 'claude -p'")} />`;
  }
  return html`<${Empty} icon="circle-check" title=${t("needs.empty_title")} text=${t("needs.empty_text")} />`;
}

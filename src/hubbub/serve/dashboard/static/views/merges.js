// Merges to come, above the map of files: pairs of branches that git could not merge as they are now.

import { html } from "../vendor/ui.js";
import { moment, project } from "../model/store.js";
import { read } from "../hub/endpoints.js";
import { list, t } from "../i18n.js";
import { Icon } from "../ui/controls.js";
import { Span } from "../ui/text.js";
import { useFetched } from "./fetching.js";

const NAMED = 3; // files

/** What git says now; of the past nothing is known. */
export function Merges() {
  const { value } = useFetched(() => read.merges(), [project.value], ["merge."]);
  if (moment.value || !value || value.conflicts.length === 0) return null;
  return html`<section class="leases small" aria-label=${t("files.merges")}>
    <ul>${value.conflicts.map((conflict) => html`<${Conflict} conflict=${conflict}
      key=${conflict.branches.map(({ agent, branch }) => `${agent}\n${branch}`).join("\n")} />`)}</ul>
  </section>`;
}

function Conflict({ conflict: { branches: [one, other], files, first, found_at: at } }) {
  const named = files.slice(0, NAMED);
  const more = files.length - named.length;
  const ends = { one: one.agent, one_branch: one.branch, other: other.agent, other_branch: other.branch };
  return html`<li class="row-tight wrap">
    <${Icon} name="git-branch" size=${13} />
    <span class="amber">${t("files.merge_conflict", ends)}</span>
    <code title=${files.join("\n")}><bdi>${list(named)}</bdi></code>
    ${more > 0 && html`<span class="faint">${t("files.merge_more", { count: more })}</span>`}
    <span>${t("files.merge_first", { agent: first })}</span>
    <${Span} from=${at} />
  </li>`;
}

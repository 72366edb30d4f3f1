// One row of the map in words: who claims it, who is in whose way, and what a person can do about it.

import { html, useEffect, useRef } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { could, may, project } from "../../model/moment.js";
import { compose } from "../../shell/asked.js";
import { href, route } from "../../shell/router.js";
import { Button, IconButton } from "../../ui/button.js";
import { Glyph, StateWord } from "../../ui/glyph.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { t } from "../../words.js";
import { useFetched } from "../fetched.js";
import { releaseScope } from "../fleet/doings.js";
import { refOf, taskHref } from "../task/names.js";
import { overlapsOf, reviewed } from "./claims.js";
import { MARK_ICONS } from "./matrix.js";
import { clashWords } from "./words.js";

/** @param {{row: import("./claims.js").Row, picture: object, focus?: boolean, onClose: () => void}} props */
export function RowPanel({ row, picture, focus = true, onClose }) {
  const heading = useRef(null);
  useEffect(() => {
    if (focus) heading.current?.focus({ preventScroll: true });
  }, [row.key]);
  const overlaps = overlapsOf(row, picture);
  const clashing = [...row.marks].filter(([, mark]) => mark === "clash").map(([name]) => name);
  return html`<section class="file-panel" aria-label=${row.name}>
    <div class="row">
      <${Icon} name=${row.kind === "area" ? "folder" : "file-code"} />
      <h2 class="grow mono" tabindex="-1" ref=${heading}><bdi>${row.name}</bdi></h2>
      <${IconButton} kind="quiet" small icon="x" label=${t("files.close")} onClick=${onClose} />
    </div>
    ${row.kind === "area" && html`<${Area} slug=${row.name} />`}
    ${overlaps.map((overlap) => html`<p key=${overlap.agents.join("\n")} class="amber">${clashWords(overlap)}</p>`)}
    ${clashing.length > 1 && could.value.write && html`<div class="row wrap"><${Button} icon="message-square"
      kind="primary"
      disabled=${!may.value.write} onClick=${() => compose(clashing)}>
      ${clashing.length === 2 ? t("files.message_both") : t("files.message_all", { count: clashing.length })}<//>
        </div>`}
    <ul class="file-agents">${[...row.marks].map(([name, mark]) => html`<${Claimant} key=${name} name=${name}
      mark=${mark} picture=${picture} />`)}</ul>
  </section>`;
}

function Claimant({ name, mark, picture }) {
  const agent = picture.agents.get(name);
  const inReview = mark === "review" ? reviewed(name, picture) : [];
  return html`<li class="panel panel-body stack">
    <div class="row"><${Tile} agent=${name} picture=${picture} />
      <a class="grow strong clip" href=${href("files", { q: route.value.query.q, agent: name })}>
        <bdi>${name}</bdi></a>
      ${agent && html`<${StateWord} agent state=${agent.state} />`}</div>
    <div class="row small"><span class="claim" data-mark=${mark}><${Icon} name=${MARK_ICONS[mark]} size=${13} />
      </span>
      <span>${t(`files.mark_${mark}`)}</span></div>
    ${inReview.map((task) => html`<a key=${task.id} class="row small" href=${taskHref(task)}>
      <${Glyph} state=${task.state} /><span class="mono faint">${refOf(task)}</span>
      <span class="clip"><${Text} value=${task.title} lines=${1} /></span></a>`)}
    ${could.value.write && html`<div class="row wrap">
      <${Button} small icon="message-square" disabled=${!may.value.write} onClick=${() => compose([name])}
        aria-label=${t("files.message_to", { name })}>${t("files.message")}<//>
      ${agent?.may.includes("release-scope") && html`<${Button} small icon="unlink" disabled=${!may.value.write}
        onClick=${() => releaseScope(name)}
        aria-label=${t("files.release_of", { name })}>${t("files.release")}<//>`}
    </div>`}
  </li>`;
}

/** What an area covers, as it was written. */
function Area({ slug }) {
  const { value } = useFetched(() => read.area(project.value, slug), [slug], ["area."]);
  if (!value) return null;
  const { name, patterns } = value.area;
  return html`<p class="small muted"><bdi>${name}</bdi>: ${patterns.length === 0 ? t("files.no_patterns")
    : patterns.map((pattern) => html`<code key=${pattern}>${pattern}</code> `)}</p>`;
}

// The map on a phone: the same rows one below the other, each with the agents' names; a tap opens what is known.

import { html, useState } from "../../vendor/ui.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";
import { MARK_ICONS } from "./matrix.js";
import { RowPanel } from "./panel.js";

const STEP = 100; // rows at a time

export function FileList({ rows, picture, chosen, onChoose }) {
  const [most, setMost] = useState(STEP);
  return html`<ul class="file-list">${rows.slice(0, most).map((row) => html`<li key=${row.key}
      class=${`panel ${row.clash ? "is-clash" : ""}`}>
      <button type="button" class="file-line" data-item=${`file:${row.key}`} aria-expanded=${row.key === chosen}
        onClick=${() => onChoose(row.key === chosen ? null : row.key)}>
        <span class="row"><bdi class="mono grow">${row.name}</bdi>
          ${row.clash && html`<span
            class="amber strong small nowrap">${t("files.agents", { count: row.marks.size })}</span>`}</span>
        <span class="row wrap small muted">${[...row.marks].map(([name, mark]) => html`<span key=${name}
          class="row-tight">
          <span class="claim" data-mark=${mark}><${Icon} name=${MARK_ICONS[mark]} size=${12} /></span>
          <span class="sr">${t(`files.mark_${mark}`)}: </span><bdi>${name}</bdi></span>`)}</span>
      </button>
      ${row.key === chosen && html`<${RowPanel} row=${row} picture=${picture} focus=${false}
        onClose=${() => onChoose(null)} />`}
    </li>`)}
    ${rows.length > most && html`<li><${Button} onClick=${() => setMost(most + STEP)}>
      ${t("files.more", { count: rows.length - most })}<//></li>`}
  </ul>`;
}

// How a task ended, as its holder told; and the whole of it as the hub keeps it.

import { html } from "../../vendor/ui.js";
import { CopyButton, Empty, Skeleton } from "../../ui/empty.js";
import { Markdown } from "../../ui/markdown.js";
import { t } from "../../words.js";

/** @param {{task: object, details: object}} props */
export function Result({ task, details }) {
  if (details.status === "loading") return html`<div class="inspector-part"><${Skeleton} /></div>`;
  const whole = details.task;
  if (!whole?.result) {
    return html`<${Empty} icon="file-text" title=${t("inspector.result_none")}
      text=${t(task.ended_at ? "inspector.result_ended" : "inspector.result_open")} />`;
  }
  return html`<section class="inspector-part">
    ${whole.result_html ? html`<${Markdown} html=${whole.result_html} />`
      : html`<pre class="plain"><bdi>${whole.result}</bdi></pre>`}
  </section>`;
}

/** @param {{task: object, details: object}} props */
export function Raw({ task, details }) {
  const { description_html: _d, context_html: _c, result_html: _r, ...whole } = details.task ?? task;
  const text = JSON.stringify(whole, null, 2);
  return html`<section class="inspector-part">
    <div class="row"><span class="end"><${CopyButton} text=${text} /></span></div>
    <pre class="plain" tabindex="0"><code>${text}</code></pre>
  </section>`;
}

// What was made for a task: a list, and the content of one of them as plain text.

import { html, useState } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { Ago } from "../../ui/ago.js";
import { CopyButton, Empty, Skeleton } from "../../ui/empty.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";

const SHOWN = 100_000; // characters: more than that nobody reads in a page

/** @param {{details: object}} props */
export function Artifacts({ details }) {
  const [open, setOpen] = useState(null);
  if (!details.artifacts.length) {
    const text = t("inspector.artifacts_text");
    return html`<${Empty} icon="package" title=${t("inspector.artifacts_none")} text=${text} />`;
  }
  const toggle = async (id) => {
    if (open?.id === id) return setOpen(null);
    setOpen({ id });
    const text = await read.artifact(id).then(({ content }) => content, (refused) => refused.message);
    return setOpen((now) => (now?.id === id ? { id, text } : now));
  };
  return html`<ul class="inspector-part stack">
    ${details.artifacts.map((artifact) => html`
      <li key=${artifact.id}>
        <button type="button" class="artifact" aria-expanded=${open?.id === artifact.id}
          onClick=${() => toggle(artifact.id)}>
          <${Icon} name=${open?.id === artifact.id ? "chevron-down" : "chevron-right"} size=${14} />
          <bdi class="grow strong">${artifact.name}</bdi>
          <span class="faint small">${t("inspector.characters", { count: artifact.length })}${" · "}
            <bdi>${artifact.creator}</bdi>${" · "}<${Ago} at=${artifact.created_at} /></span>
        </button>
        ${open?.id === artifact.id && html`<${Content} text=${open.text} />`}
      </li>`)}
  </ul>`;
}

function Content({ text }) {
  if (text === undefined) return html`<${Skeleton} />`;
  return html`<div class="row"><span class="end"><${CopyButton} text=${text} /></span></div>
    <pre class="plain" tabindex="0"><bdi>${text.slice(0, SHOWN)}${text.length > SHOWN && "…"}</bdi></pre>`;
}

// Why something is as it is: the hub's own account, in one paragraph, with the facts it is made of.

import { html, useEffect, useState } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Skeleton } from "../../ui/empty.js";
import { t } from "../../words.js";

const AT_FIRST = 3; // facts: how it is, who holds it, what would free it

/** @param {{of: {ref: string|number, kind: string}, at?: any}} props  `at`: ask again when this is another */
export function Why({ of, at }) {
  const [answer, setAnswer] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    read.why(of.ref, of.kind).then(
      (account) => abort.signal.aborted || setAnswer(account),
      (refused) => abort.signal.aborted || setAnswer({ refused: refused.message || t("errors.unreachable") }),
    );
    return () => abort.abort();
  }, [of.ref, of.kind, at]);
  const [all, setAll] = useState(false);
  if (!answer) return html`<div class="why"><${Skeleton} lines=${2} /></div>`;
  return html`
    <div class="why" role="note" aria-label=${t("needs.why")}>
      <${Icon} name="circle-help" size=${15} />
      ${answer.refused ? html`<p>${answer.refused}</p>` : html`
        <ul class="stack">
          ${answer.facts.slice(0, all ? undefined : AT_FIRST).map(({ sentence }) => html`
            <li key=${sentence}><bdi>${sentence}</bdi></li>`)}
          ${!all && answer.facts.length > AT_FIRST && html`<li>
            <${Button} small kind="quiet" icon="chevron-down" onClick=${() => setAll(true)}>
              ${t("needs.more_facts", { count: answer.facts.length - AT_FIRST })}<//></li>`}
        </ul>`}
    </div>`;
}

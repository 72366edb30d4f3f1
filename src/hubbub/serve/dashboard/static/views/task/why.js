// Why something is as it is: the hub's own account, in one line, with the facts behind it one click away.

import { html, useEffect, useState } from "../../vendor/ui.js";
import { sentence } from "../../hub/actions.js";
import { read } from "../../hub/endpoints.js";
import { list, shortTime, span, t } from "../../i18n.js";
import { now } from "../../model/store.js";
import { Button, Icon } from "../../ui/controls.js";
import { Skeleton } from "../../ui/empty.js";

const IN_SHORT = 1; // facts: the first says how it is, since when, and what a blocked task waits for

/**
 * @param {object} props
 * @param {{ref: string|number, kind: string}} props.of
 * @param {any} [props.at]  ask again when this is another
 * @param {boolean} [props.short]  the first fact alone, until more are asked for
 */
export function Why({ of, at, short = false }) {
  const [answer, setAnswer] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    read.why(of.ref, of.kind).then(
      (account) => abort.signal.aborted || setAnswer(account),
      (refused) => abort.signal.aborted || setAnswer({ refused: sentence(refused, "errors.not_loaded") }),
    );
    return () => abort.abort();
  }, [of.ref, of.kind, at]);
  const [all, setAll] = useState(!short);
  if (!answer) return html`<div class="why"><${Skeleton} lines=${2} /></div>`;
  return html`
    <div class="why" role="note" aria-label=${t("needs.why")}>
      <${Icon} name="circle-help" size=${15} />
      ${answer.refused ? html`<p>${answer.refused}</p>` : html`
        <ul class="stack">
          ${answer.facts.slice(0, all ? undefined : IN_SHORT).map((fact) => html`
            <li key=${fact.sentence}><bdi>${said(fact.words)}</bdi></li>`)}
          ${!all && answer.facts.length > IN_SHORT && html`<li>
            <${Button} small kind="quiet" icon="chevron-down" onClick=${() => setAll(true)}>
              ${t("needs.more_facts", { count: answer.facts.length - IN_SHORT })}<//></li>`}
        </ul>`}
    </div>`;
}

/** A fact as the page speaks, or a value in it: text, a number, several, a moment, words with values of their own. */
export function said(value) {
  if (Array.isArray(value)) return list(value.map(said));
  if (value?.key) {
    const values = Object.entries(value.values).map(([name, each]) => [name, said(each)]);
    const isTask = value.key === "task"; // whose title stands above
    return t(`why.${value.key}`, { ...Object.fromEntries(values), ...(isTask && { title: "" }) }).replace("  ", " ");
  }
  if (value?.span === undefined) return value;
  const left = value.is_past ? now.value - value.at : value.at - now.value;
  return t(value.is_past ? "why.ago" : "why.ahead", { at: shortTime(value.at), span: span(left) });
}

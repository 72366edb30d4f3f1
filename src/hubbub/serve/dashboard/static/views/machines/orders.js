// What a machine was ordered of late, and what came of it; nothing of what was said in it.
import { html } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { read } from "../../hub/reads.js";
import { Ago, Span } from "../../ui/ago.js";
import { Empty } from "../../ui/empty.js";
import { existed, Fetched, useFetched } from "../fetched.js";

const HEADINGS = ["tool", "who", "outcome", "when", "took"];

/** Done, not done and why, or still on its way: with a colour that says which. */
function Outcome({ order }) {
  const isBad = Boolean(order.code) || order.status === "lost";
  const tone = isBad ? "is-failed" : order.ended_at ? "is-done" : "is-running";
  const words = [t(`machines.order_${order.status}`), order.code].filter(Boolean).join(": ");
  return html`<span class=${`outcome ${tone}`}>${words}</span>`;
}

export function Orders({ machine }) {
  const orders = useFetched(() => read.orders(machine.name), [machine.name], ["dispatch."]);
  return html`<${Fetched} of=${orders}>${({ dispatches }) => {
    const rows = existed(dispatches);
    if (!rows.length) return html`<${Empty} icon="list-checks" title=${t("machines.no_orders")}
      text=${t("machines.no_orders_text")} />`;
    return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("machines.tab_orders")}>
      <table class="table"><thead><tr>
        ${HEADINGS.map((key) => html`<th key=${key}>${t(`machines.order_${key}`)}</th>`)}
      </tr></thead><tbody>${rows.map((order) => html`<tr key=${order.id}>
        <td class="mono">${order.tool}</td><td><bdi>${order.who}</bdi></td>
        <td><${Outcome} order=${order} /></td>
        <td><${Ago} at=${order.created_at} /></td>
        <td>${order.ended_at && html`<${Span} from=${order.created_at} to=${order.ended_at} />`}</td>
      </tr>`)}</tbody></table></div>`;
  }}<//>`;
}

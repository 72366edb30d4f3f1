// Budgets: how much may be used, how much is, and the way to raise it, on a telephone too.

import { html, useEffect } from "../vendor/ui.js";
import { act } from "../hub/actions.js";
import { may } from "../model/store.js";
import { money, number, t } from "../i18n.js";
import { ask } from "../shell/dialogs.js";
import { Button } from "../ui/controls.js";
import { toast } from "../ui/overlays.js";

const MICRO = 1_000_000; // of a dollar in a dollar

const amountOf = (value, unit) => (unit === "usd" ? money(value / MICRO) : t("cost.some_tokens", { count: value }));

/** Whose it is, in words. */
function whose({ kind, label, daily }) {
  const name = t(`needs.budget_of_${kind}`, { label });
  return daily ? t("cost.budget_daily", { whose: name }) : name;
}

/** Ask for another limit and set it. */
async function raise(budget, onDone) {
  const { kind, whom, daily, unit, amount } = budget;
  const title = t("cost.budget_raise_title", { whose: whose(budget) });
  const hint = amount ? amountOf(amount, unit) : "";
  const said = await ask({ title, label: t(`cost.budget_${unit}`), action: t("cost.budget_raise"), hint, short: true });
  if (said === null) return;
  const value = Number(said.trim().replace(/^\$/, "").replaceAll(",", ""));
  if (!(value > 0)) {
    toast(t("cost.budget_wrong"), { kind: "error" });
    return;
  }
  const limit = unit === "usd" ? { usd: value } : { tokens: Math.round(value) };
  const answer = await act("putBudget", { kind, whom, daily, ...limit });
  if (!answer) return;
  toast(t("cost.budget_set", { amount: amountOf(answer.budget.amount, unit) }));
  onDone();
}

function Row({ budget, onDone }) {
  const { used, amount, unit, metered, unpriced, now_level: level } = budget;
  const share = Math.min(100, (used / amount) * 100);
  return html`<li class=${`budget is-${level}`}>
    <bdi class="budget-whose">${whose(budget)}</bdi>
    <span class="budget-bar" aria-hidden="true"><span style=${{ width: `${metered ? share : 0}%` }}></span></span>
    <span class="num nowrap">${metered
      ? t("cost.budget_used", { used: amountOf(used, unit), amount: amountOf(amount, unit) })
      : amountOf(amount, unit)}</span>
    ${level !== "enough" && html`<strong>${t(`cost.budget_${level}`)}</strong>`}
    ${!metered && html`<span class="small muted">${t("cost.budget_unmetered")}</span>`}
    ${unpriced > 0 && html`<span class="small muted">${t("cost.budget_unpriced", { count: number(unpriced) })}</span>`}
    ${may.value.manage && html`<${Button} small onClick=${() => raise(budget, onDone)}>${t("cost.budget_raise")}<//>`}
  </li>`;
}

const NEW = { kind: "project", whom: "", label: "", daily: true, unit: "usd" };

/** @param {{budgets: object[], asked?: string, onDone: () => void}} props  `asked`: the id of one to raise at once */
export function Budgets({ budgets, asked, onDone }) {
  useEffect(() => {
    const wanted = budgets.find(({ id }) => id === asked);
    if (wanted && may.value.manage) raise(wanted, onDone);
  }, [asked]);
  if (!budgets.length && !may.value.manage) return null;
  return html`<section class="budgets" aria-label=${t("cost.budgets")}>
    <div class="row"><h2 class="grow">${t("cost.budgets")}</h2>
      ${may.value.manage && html`<${Button} small title=${t("cost.budget_tip")}
        onClick=${() => raise(NEW, onDone)}>${t("cost.budget_add")}<//>`}</div>
    ${!budgets.length && html`<p class="small muted">${t("cost.budget_none")}</p>`}
    <ul>${budgets.map((budget) => html`<${Row} key=${budget.id} budget=${budget} onDone=${onDone} />`)}</ul>
  </section>`;
}

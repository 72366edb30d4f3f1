// The most urgent of what needs a person, in one row above the columns.

import { html } from "../../vendor/ui.js";
import { href } from "../../shell/router.js";
import { Icon } from "../../ui/icon.js";
import { t } from "../../words.js";
import { NeedCard } from "../needs/card.js";
import { waiting } from "../../model/waiting.js";

const SHOWN = 12;

export function Attention() {
  const all = waiting.value;
  if (!all.length) return null;
  const more = all.length - SHOWN;
  return html`
    <section class="attention scroll-x" aria-label=${t("board.attention")} tabindex="0">
      ${all.slice(0, SHOWN).map((need) => html`<${NeedCard} key=${need.key} need=${need} small />`)}
      ${more > 0 && html`<a class="attention-more" href=${href("needs")}>
        <span>${t("board.more_needs", { count: more })}</span><${Icon} name="arrow-right" size=${14} /></a>`}
    </section>`;
}

// The fleet in one row: a tile for each agent, by machine. A click shows only what has to do with that agent.

import { html } from "../../vendor/ui.js";
import { parse, toggle } from "../../model/filter.js";
import { route, set } from "../../shell/router.js";
import { TileButton } from "../../ui/tile.js";
import { t } from "../../words.js";
import { byMachine } from "./shape.js";

const MOST_OFFLINE = 24; // of a machine: agents that are gone for good must not hide those that are there

/** @param {{picture: import("../../model/fold.js").Picture}} props */
export function Strip({ picture }) {
  const chosen = parse(route.value.query.q).agent;
  if (!picture.agents.size) return null;
  return html`
    <div class="strip scroll-x" role="group" aria-label=${t("board.strip")} tabindex="0">
      ${byMachine(picture.agents).map(([machine, crew]) => html`
        <div class="strip-machine" key=${machine} role="group" aria-label=${machine || t("board.elsewhere")}>
          <bdi class="strip-name">${machine || t("board.elsewhere")}</bdi>
          ${present(crew).map((agent) => html`
            <${TileButton} key=${agent.name} agent=${agent} picture=${picture}
              pressed=${chosen.includes(agent.name.toLowerCase())}
              onClick=${() => set({ q: toggle(route.value.query.q, "agent", agent.name) })} />`)}
        </div>`)}
    </div>`;
}

function present(crew) {
  let gone = 0;
  return crew.filter((agent) => agent.live || ++gone <= MOST_OFFLINE);
}

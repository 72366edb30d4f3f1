// What state something is in: always an icon, a colour, and a word (seen, or heard by a screen reader).
import { html } from "../vendor/ui.js";
import { GLYPHS } from "../model/states.js";
import { t } from "../words.js";
import { Icon } from "./icon.js";

/** The icons of agents' states; those that tasks have too look the same. */
const AGENT_GLYPHS = {
  working: "loader",
  idle: "circle",
  blocked: "circle-pause",
  waiting: "hand",
  error: "circle-x",
  stale: "wifi-off",
  offline: "circle-dashed",
};

/** The word for a task's state, or with `agent` for an agent's. @param {string} state @param {boolean} [agent] */
export function stateWord(state, agent = false) {
  return agent ? t(`states.agent_${state}`) : t(`states.${state}`);
}

/**
 * The icon of a state in its colour.
 * @param {{state: string, agent?: boolean, size?: number, quiet?: boolean}} props
 *   `quiet`: no word for screen readers, because it stands beside the icon
 */
export function Glyph({ state, agent = false, size = 15, quiet = false }) {
  return html`<span class="glyph" data-state=${state} title=${quiet ? undefined : stateWord(state, agent)}>
    <${Icon} name=${(agent ? AGENT_GLYPHS : GLYPHS)[state] ?? "circle"} size=${size} />
    ${quiet ? null : html`<span class="sr">${stateWord(state, agent)}</span>`}
  </span>`;
}

/** The icon and the word of a state. @param {{state: string, agent?: boolean, size?: number}} props */
export function StateWord({ state, agent = false, size = 14 }) {
  return html`<span class="state-word" data-state=${state}>
    <${Icon} name=${(agent ? AGENT_GLYPHS : GLYPHS)[state] ?? "circle"} size=${size} />
    <span>${stateWord(state, agent)}</span>
  </span>`;
}

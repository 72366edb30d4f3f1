// Small marks that are read at a glance: the state of something, an agent, how much happened, how loaded a machine is.

import { html } from "../vendor/ui.js";
import { GLYPHS, isBuiltIn, pausing } from "../model/states.js";
import { now } from "../model/store.js";
import { day, fullTime, hourAndMinute, t } from "../i18n.js";
import { Icon } from "./controls.js";

// What state something is in: always an icon, a colour, and a word (seen, or heard by a screen reader).

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

/** Until when a task stands still because its agent's account is paused. @param {{task: any, picture: any}} props */
export function Paused({ task, picture }) {
  const account = pausing(task, picture);
  if (!account) return null;
  const { name, paused_until: until } = account;
  const isToday = until && day(until) === day(now.peek());
  const time = until && `${isToday ? "" : `${day(until)} `}${hourAndMinute(until)}`;
  return html`<span class="amber small" title=${until ? `${name}: ${fullTime(until)}` : name}>
    <${Icon} name="pause" size=${13} /> ${until ? t("states.paused_until", { time }) : t("fleet.paused")}</span>`;
}

// An agent in 26 pixels: two letters; the ring and the mark at the corner say its condition.

/** A name in short: "ember" -> "Em", "ci-runner" -> "Cr", by its number "coder-12" -> "C12". @param {string} name */
function monogram(name) {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (!parts.length) return "?";
  const [first, next = ""] = parts[0];
  const second = /\D\d*?(\d{1,2})$/.exec(name)?.[1] ?? (parts.length > 1 ? [...parts[1]][0] : next);
  return first.toUpperCase() + second.toLowerCase();
}

/** So many colours can be told apart; neighbours on the wheel are as far from each other as that allows. */
const COLOURS = 16;
const FAR = 7; // so many places lie between names that are counted, as "coder-1" and "coder-2"

/** The colour of an agent, the same in every view: a place on the colour wheel. @param {string} name */
export function hueOf(name) {
  let sum = 0;
  for (const letter of name) sum = (Math.imul(sum, 31) + letter.codePointAt(0)) >>> 0;
  return Math.round((((sum * FAR) % COLOURS) * 360) / COLOURS);
}

/**
 * The tile alone: decoration, the agent's name belongs beside it.
 * @param {{agent: any, picture: any, small?: boolean}} props `agent`: a card, or the name of one of the picture
 */
export function Tile({ agent, picture, small = false }) {
  const [name, card] = named(agent, picture);
  const state = card?.state ?? "offline";
  return html`<span class=${small ? "tile is-small" : "tile"} data-state=${state} aria-hidden="true"
    style=${{ "--hue": hueOf(name) }}>
    ${monogram(name)}
  </span>`;
}

/**
 * The tile as a link or a button. Its accessible name begins with the two letters that are seen (WCAG 2.5.3).
 * @param {{agent: any, picture: any, href?: string, onClick?: (event: Event) => void, pressed?: boolean}} props
 */
export function TileButton({ agent, picture, href, pressed, ...rest }) {
  const [name, card] = named(agent, picture);
  const state = card?.state ?? "offline";
  const label = `${monogram(name)} ${name}, ${stateWord(state, true)}`;
  const inside = html`<${Tile} agent=${agent} picture=${picture} />`;
  const common = { class: "tile-button", "aria-label": label, title: `${name}, ${stateWord(state, true)}`, ...rest };
  if (href) return html`<a ...${common} href=${href} aria-current=${pressed ? "true" : undefined}>${inside}</a>`;
  return html`<button type="button" ...${common} aria-pressed=${pressed}>${inside}</button>`;
}

/** @returns {[string, any]} the name and, where the picture has it, the card */
function named(agent, picture) {
  if (typeof agent !== "string") return [agent.name, agent];
  return [agent, picture?.agents.get(agent)];
}

// A row of small bars: how much happened, per slice of time.

/** @param {{values: number[], label: string, height?: number}} props `label`: the same in words */
export function Sparkline({ values, label, height = 22 }) {
  const most = Math.max(1, ...values);
  const width = 6;
  return html`<svg class="spark" role="img" aria-label=${label} height=${height} preserveAspectRatio="none"
    viewBox="0 0 ${values.length * width} ${height}">
    <line x1="0" x2=${values.length * width} y1=${height - 0.5} y2=${height - 0.5} />
    ${values.map((value, at) => {
      const tall = value ? Math.max(2, Math.round((value / most) * height)) : 0;
      return tall ? html`<rect x=${at * width} y=${height - tall} width=${width - 2} height=${tall} rx="1" />` : null;
    })}
  </svg>`;
}

/** What an agent runs as, as people read it. @param {import("../model/fold.js").Agent} agent */
export const runtimeOf = (agent) => (isBuiltIn(agent) ? t("fleet.built_in") : agent.runtime);

// An agent in 26 pixels: two letters; the ring and the mark at the corner say its condition.
import { html } from "../vendor/ui.js";
import { stateWord } from "./glyph.js";

/** Two letters of a name: "ember" -> "Em", "ci-runner" -> "Cr". @param {string} name */
function monogram(name) {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (!parts.length) return "?";
  const first = [...parts[0]];
  const second = parts.length > 1 ? [...parts[1]][0] : first[1] ?? "";
  return first[0].toUpperCase() + second.toLowerCase();
}

/**
 * The tile alone: decoration, the agent's name belongs beside it.
 * @param {{agent: any, picture: any, small?: boolean}} props `agent`: a card, or the name of one of the picture
 */
export function Tile({ agent, picture, small = false }) {
  const [name, card] = named(agent, picture);
  const state = card?.state ?? "offline";
  return html`<span class=${small ? "tile is-small" : "tile"} data-state=${state} aria-hidden="true">
    ${monogram(name)}
  </span>`;
}

/**
 * The tile as a link or a button. Its accessible name begins with the two letters that are seen (WCAG 2.5.3).
 * @param {{agent: any, picture: any, href?: string, onClick?: (event: Event) => void, pressed?: boolean}} props
 */
export function TileButton({ agent, picture, href, onClick, pressed }) {
  const [name, card] = named(agent, picture);
  const state = card?.state ?? "offline";
  const label = `${monogram(name)} ${name}, ${stateWord(state, true)}`;
  const inside = html`<${Tile} agent=${agent} picture=${picture} />`;
  const common = { class: "tile-button", "aria-label": label, title: `${name}, ${stateWord(state, true)}`, onClick };
  if (href) return html`<a ...${common} href=${href} aria-current=${pressed ? "true" : undefined}>${inside}</a>`;
  return html`<button type="button" ...${common} aria-pressed=${pressed}>${inside}</button>`;
}

/** @returns {[string, any]} the name and, where the picture has it, the card */
function named(agent, picture) {
  if (typeof agent !== "string") return [agent.name, agent];
  return [agent, picture?.agents.get(agent)];
}

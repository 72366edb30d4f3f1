// A task in the graph: its exact state, its number, who holds it, and what it is.

import { html } from "../../vendor/ui.js";
import { Glyph, stateWord } from "../../ui/glyph.js";
import { Text } from "../../ui/text.js";
import { t } from "../../words.js";
import { refOf } from "../task/names.js";
import { HEIGHT, WIDTH } from "./place.js";

/**
 * @param {object} props
 * @param {object} props.task @param {string} props.state @param {{x: number, y: number}} props.spot
 * @param {boolean} props.dim @param {boolean} props.current @param {boolean} props.isOver @param {string} props.href
 */
export function GraphNode({ task, state, spot, dim, current, isOver, href }) {
  const look = `graph-node ${isOver ? "is-over" : ""} ${dim ? "is-dim" : ""} ${current ? "is-current" : ""}`;
  const holder = task.assignee ?? "";
  const label = `${refOf(task)} ${holder} ${task.title.slice(0, 120)}, ${stateWord(state)}`;
  const style = { left: `${spot.x}px`, top: `${spot.y}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` };
  return html`<li><a class=${look} href=${href} style=${style} data-item=${`task:${task.id}`} aria-label=${label}
    aria-current=${current ? "true" : undefined} title=${holder ? undefined : t("graph.nobody")}>
    <span class="row"><${Glyph} state=${state} quiet size=${14} /><span class="mono">${refOf(task)}</span>
      <bdi class="mono clip">${holder}</bdi></span>
    <span class="clip"><${Text} value=${task.title} /></span>
  </a></li>`;
}

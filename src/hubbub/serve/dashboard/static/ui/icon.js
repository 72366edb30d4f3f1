// One icon of the Lucide sprite. Always decoration: the words stand beside it, or in the name of its button.
import { html } from "../vendor/ui.js";

const SPRITE = new URL("../vendor/icons.svg", import.meta.url).href;

/** @param {{name: string, size?: number}} props `name`: an id of vendoring/icons.txt; `size` in pixels */
export function Icon({ name, size = 16 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true">
    <use href=${`${SPRITE}#${name}`} />
  </svg>`;
}

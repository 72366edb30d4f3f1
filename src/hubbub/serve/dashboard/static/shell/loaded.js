// What is fetched when it is first looked at: a view or the side of one, and the styles that the first views do
// without.
import { html, useEffect, useState } from "../vendor/ui.js";
import { Skeleton } from "../ui/empty.js";

const LATER = new URL("../styles/later.css", import.meta.url).href;
/** What the styles of the first screen are enough for. */
const FIRST_STYLED = ["needs", "board"];

let later = null;

/** The later styles, once: where the page came with them, they are there. @returns {Promise<void>} */
function laterStyles() {
  later ??= new Promise((resolve) => {
    if ([...document.styleSheets].some(({ href }) => href === LATER)) return resolve();
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = LATER;
    link.onload = link.onerror = () => resolve();
    return document.head.append(link);
  });
  return later;
}

/** @param {{path: string}} props its module in `views`, which exports a `View`; that gets whatever else is given */
export function Loaded({ path, ...rest }) {
  const [View, setView] = useState(null);
  useEffect(() => {
    const styled = FIRST_STYLED.includes(path) ? null : laterStyles();
    Promise.all([import(`../views/${path}.js`), styled]).then(([module]) => setView(() => module.View));
  }, [path]);
  return View ? html`<${View} ...${rest} />` : html`<div class="view"><${Skeleton} /></div>`;
}

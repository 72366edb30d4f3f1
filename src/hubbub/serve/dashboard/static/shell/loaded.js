// What is fetched when it is first looked at: a view or the side of one, and the styles that the first views do
// without.
import { html, useEffect, useState } from "../vendor/ui.js";
import { fetched } from "../hub/fetched.js";
import { isLive } from "../hub/live.js";
import { t } from "../words.js";
import { Skeleton } from "../ui/empty.js";

const LATER = new URL("../styles/later.css", import.meta.url).href;
/** What the styles of the first screen are enough for. */
const FIRST_STYLED = ["needs", "board"];
/** What a page was loaded anew for, kept for as long as its window. */
const RELOADED = "hubbub_reloaded";

let later = null;

/** The later styles, once: where the page came with them, they are there. @returns {Promise<void>} */
function laterStyles() {
  later ??= new Promise((resolve, reject) => {
    if ([...document.styleSheets].some(({ href }) => href === LATER)) return resolve();
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = LATER;
    link.onload = () => resolve();
    link.onerror = () => reject(later = link.remove());
    return document.head.append(link);
  });
  return later;
}

/** The view of a module. Rejects while the hub is away. */
async function taken(path) {
  const styled = FIRST_STYLED.includes(path) ? null : laterStyles();
  const [module] = await Promise.all([import(`../views/${path}.js`), styled]);
  return module.View;
}

/** As `taken`; what a newer hub does not have any more comes with its page, which is loaded anew for it once. */
async function view(path) {
  try {
    return await taken(path);
  } catch {
    const address = new URL(`../views/${path}.js`, import.meta.url).href;
    const { ok } = await fetched(address);
    if (!ok && sessionStorage.getItem(RELOADED) !== address) {
      sessionStorage.setItem(RELOADED, address);
      location.reload();
    }
    return taken(path);
  }
}

/** @param {{path: string}} props its module in `views`, which exports a `View`; that gets whatever else is given */
export function Loaded({ path, ...rest }) {
  const [View, setView] = useState(null);
  const [missed, setMissed] = useState(false);
  useEffect(() => {
    if (!View && (!missed || isLive.value)) view(path).then((made) => setView(() => made), () => setMissed(true));
  }, [path, isLive.value]);
  if (View) return html`<${View} ...${rest} />`;
  return html`<div class="view">${missed ? html`<p class="refused" role="alert">${t("errors.unreachable")}</p>`
    : html`<${Skeleton} />`}</div>`;
}

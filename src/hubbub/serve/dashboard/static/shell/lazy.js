// What is fetched only when it is looked at, so that the first screen is there sooner: views, the styles that the
// first ones do without, and dialogs. All but the views come as soon as the page has nothing better to do, so that
// they are there when they are asked for, or the hub is not.

import { html, useEffect, useState } from "../vendor/ui.js";
import { fetchWithRetry } from "../hub/api.js";
import { isLive } from "../hub/stream.js";
import { t } from "../i18n.js";
import { hold } from "./keyboard.js";
import { Skeleton } from "../ui/empty.js";
import { toast } from "../ui/overlays.js";

const PARTS = {
  help: () => import("./help.js"),
  dialog: () => import("../ui/dialog.js"),
  search: () => import("./palette_entries.js"),
  forms: () => import("../views/task/forms.js"),
  arranging: () => import("./arranging.js"),
  replies: () => import("../views/replies.js"),
  compose: () => import("../views/compose.js"),
  why: () => import("../views/task/why.js"),
  project: () => import("../views/settings/project.js"),
  dagre: () => import("../vendor/dagre.js"),
};
/** What is too large to be fetched before anybody asks. */
const LARGE = ["dagre"];
/** What is drawn where it is asked for, so that no keys are meant for it. */
const IN_PLACE = ["arranging", "dagre", "search", "why"];
const FREE = [() => true, () => true];

/**
 * What a part exports. Until a dialog is there keys do nothing: they are meant for it.
 * @param {keyof typeof PARTS} part
 * @returns {Promise<object|null>} null: it did not come, which is told, or nobody waits for it any more
 */
export async function lazy(part) {
  const [end, fail] = IN_PLACE.includes(part) ? FREE : hold();
  try {
    const found = await PARTS[part]();
    return end() ? found : null;
  } catch {
    if (fail()) toast(t("errors.not_loaded"), { kind: "away" });
    return null;
  }
}

/** What is on its way before it is asked for, and whether anything more is to come so. */
let coming = Promise.resolve();
let isAhead = true;

/** Have everything here before it is asked for, one by one; what does not come now comes when it is asked for. */
export function fetchAhead() {
  const idle = globalThis.requestIdleCallback ?? setTimeout;
  idle(async () => {
    for (const name of Object.keys(PARTS).filter((each) => !LARGE.includes(each))) {
      if (!isAhead) return;
      coming = PARTS[name]().catch(() => {});
      await coming;
    }
  });
}

/** Fetch nothing more ahead: the login is about to end. @returns {Promise<void>} when nothing is on its way any more */
export function stopAhead() {
  isAhead = false;
  return coming;
}

// A view or the side of one, and the styles that the first views do without.

const LATER = new URL("../styles/later.css", import.meta.url).href;
/** What the styles of the first screen are enough for. */
const FIRST_STYLED = ["needs", "board", "approval"];
/** All that a page was loaded anew for, kept for as long as its window: of the last one alone, two take turns. */
const RELOADED = "hubbub_reloaded";

let later = null;
/** The modules of `views` that are here, by their paths: what is in them is shown at once. */
const here = new Map();

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

/** A module of `views`, and the styles that it needs. Rejects while the hub is away. */
async function fetchModule(path) {
  const styled = FIRST_STYLED.includes(path) ? null : laterStyles();
  const [module] = await Promise.all([import(`../views/${path}.js`), styled]);
  here.set(path, module);
  return module;
}

/** As `fetchModule`; what a newer hub does not have any more comes with its page, which is loaded anew for it once. */
async function moduleOf(path) {
  try {
    return await fetchModule(path);
  } catch {
    const address = new URL(`../views/${path}.js`, import.meta.url).href;
    const { ok } = await fetchWithRetry(address);
    const before = sessionStorage.getItem(RELOADED)?.split(" ") ?? [];
    if (!ok && !before.includes(address)) {
      sessionStorage.setItem(RELOADED, [...before, address].join(" "));
      location.reload();
    }
    return fetchModule(path);
  }
}

/** @param {{path: string, name?: string}} props a module of `views`, and what of it; that gets what else is given */
export function LazyView({ path, name = "View", ...rest }) {
  const [View, setView] = useState(() => here.get(path)?.[name] ?? null);
  const [missed, setMissed] = useState(false);
  useEffect(() => {
    if (View || (missed && !isLive.value)) return;
    moduleOf(path).then((module) => setView(() => module[name]), () => setMissed(true));
  }, [path, isLive.value]);
  if (View) return html`<${View} ...${rest} />`;
  return html`<div class="view">${missed ? html`<p class="refused" role="alert">${t("errors.not_loaded")}</p>`
    : html`<${Skeleton} />`}</div>`;
}

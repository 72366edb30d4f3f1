// Which view is shown, with which filter, task and moment: all of it stands in the address, so that a link, a
// reload and the back button lead to the same.

import { signal } from "../vendor/ui.js";

/** @typedef {{view: string, query: Record<string, string>}} Route */

const VIEWS = [
  "needs", "board", "fleet", "messages", "files", "graph", "activity", "machines", "cost", "audit", "settings",
];

/** What goes along from view to view. */
const STAYS = ["project", "at"];

/** @type {{value: Route}} */
export const route = signal(read(location));

/** The route that an address says. @returns {Route} */
function read({ pathname, search }) {
  const query = Object.fromEntries(new URLSearchParams(search));
  const [, first, second] = pathname.split("/");
  if (first === "t" && second) return { view: "board", query: { ...query, task: decoded(second) } };
  const view = first === "" ? "needs" : first;
  return { view: VIEWS.includes(view) ? view : "needs", query };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray % is nobody's task
  }
}

function write(view, query) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return (view === "needs" ? "/" : `/${view}`) + (search ? `?${search}` : "");
}

/** The address of a view; the project and the moment stay unless `query` says otherwise. */
export function href(view, query = {}) {
  const staying = Object.fromEntries(STAYS.map((key) => [key, route.value.query[key]]));
  return write(view, { ...staying, ...query });
}

/** Show a view. With `replace` the back button does not lead back here. */
export function go(view, query = {}, { replace = false } = {}) {
  move(href(view, query), replace);
}

/** Change some of the query of the view that is shown; null or "" takes a key away. */
export function set(changes, { replace = false } = {}) {
  const { view, query } = route.value;
  move(write(view, { ...query, ...changes }), replace);
}

function move(address, replace) {
  if (address === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  route.value = read(location);
}

/** Follow the back button and plain clicks on links to views. */
export function listen() {
  addEventListener("popstate", () => (route.value = read(location)));
  document.addEventListener("click", (event) => {
    /** @type {HTMLAnchorElement|null} */
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!link || event.defaultPrevented || event.button || link.target || link.hasAttribute("download")) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || !isView(link)) return;
    event.preventDefault();
    const { view, query } = read(link); // what agents write about a task leads to it in this project
    if (query.project) move(link.pathname + link.search, false);
    else go(view, query);
  });
}

function isView({ origin, pathname }) {
  const [, first, second, third] = pathname.split("/");
  if (origin !== location.origin) return false;
  if (first === "t") return Boolean(second) && third === undefined;
  return second === undefined && (first === "" || VIEWS.includes(first));
}

// hjkl and the arrows: from one card to the next, by where they are on the screen.
import { useEffect } from "../vendor/ui.js";
import { register } from "./keys.js";

const WAYS = {
  h: [-1, 0], j: [0, 1], k: [0, -1], l: [1, 0],
  ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0],
};
/** Being off to the side counts so many times as much as being farther along. */
const ASIDE = 3;

/** @type {Set<{current: Element|null}>} where the elements are whose [data-item]s can be moved among */
const lists = new Set();

/** Lets one move among what is in an element, while the component is on the page. */
export function useList(ref) {
  useEffect(() => {
    lists.add(ref); // a view may draw its list only when the picture has come
    return () => lists.delete(ref);
  }, []);
}

/** The keys themselves; once, by the shell. @returns {() => void} */
export function registerMoving() {
  const all = Object.entries(WAYS).map(([key, way]) => register({
    key, group: key.length === 1 ? "move" : "arrows", word: "keys.move",
    run: (item) => move(way, key.length === 1 || item !== null),
  }));
  return () => all.forEach((forget) => forget());
}

/** @param {number[]} way @param {boolean} may arrows scroll the page unless a card has the focus */
function move(way, may) {
  if (!may) return false;
  const items = [...lists].flatMap(({ current }) => [...(current?.querySelectorAll("[data-item]") ?? [])])
    .filter(isSeen);
  const now = document.activeElement?.closest("[data-item]");
  const next = now && items.includes(now) ? nearest(now, items, way) : items[0];
  if (!next) return items.length > 0;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
  return true;
}

/** The card that is nearest that way, measured between the middles. */
function nearest(now, items, [dx, dy]) {
  const from = box(now);
  let best = null;
  let least = Infinity;
  for (const item of items) {
    if (item === now) continue;
    const to = box(item);
    const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
    const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
    const isThere = dx ? along > from.w / 2 : along > 1 && aside < from.w;
    if (!isThere) continue;
    if (along + aside * ASIDE < least) [best, least] = [item, along + aside * ASIDE];
  }
  return best;
}

function box(element) {
  const { left, top, width, height } = (element.closest(".card") ?? element).getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2, w: width };
}

function isSeen(element) {
  return element.checkVisibility() && !element.closest("[inert]");
}

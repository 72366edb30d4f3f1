// Long lists stay cheap: drawn a few times a second, of elements that are kept, and only what is near the visible part.

import { effect, html, useEffect, useLayoutEffect, useRef, useSignal, useState } from "../vendor/ui.js";

// Large views are drawn a few times a second, however much happens: a single change at once, a burst in steps.

const PAUSE = 250; // milliseconds; shorter is not seen, and would leave no time for anything else

/** @template T @param {{value: T, peek: () => T}} source a signal @returns {{value: T}} the same, in steps */
export function useThrottled(source) {
  const calm = useSignal(source.peek());
  useEffect(() => {
    let timer;
    let last = -Infinity;
    const follow = () => {
      timer = undefined;
      last = performance.now();
      calm.value = source.peek();
    };
    const stop = effect(() => {
      if (source.value === calm.peek() || timer !== undefined) return;
      const left = last + PAUSE - performance.now();
      if (left <= 0) follow();
      else timer = setTimeout(follow, left);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [source]);
  return calm;
}

// Long lists stay cheap: an element is made anew only when something that it is made from is another, and Preact
// passes over an element that is the same object as before.

/** @returns {(key: string, from?: any[], make?: () => object) => object} that element; as it was made last */
export function useElementCache() {
  const kept = useRef(new Map());
  return (key, from, make) => {
    const old = kept.current.get(key);
    if (!from) return old?.element;
    if (old && from.length === old.from.length && from.every((each, index) => each === old.from[index])) {
      return old.element;
    }
    const element = make();
    kept.current.set(key, { from, element });
    return element;
  };
}

// Cards in a grid, whose height nobody knows before they are drawn, come a few in each frame: the first ones at once.

const AT_ONCE = 32; // cards, about as many as are in sight
const EACH_FRAME = 8;

/** @returns {(keys: string[]) => Set<string>} which cards are drawn by now, when these are wanted */
export function useGradual() {
  const drawn = useRef(new Set());
  const isAll = useRef(true);
  const [, again] = useState(0);
  useLayoutEffect(() => {
    if (isAll.current) return undefined;
    const frame = requestAnimationFrame(() => again((frames) => frames + 1));
    return () => cancelAnimationFrame(frame);
  });
  return (keys) => {
    const missing = keys.filter((key) => !drawn.current.has(key));
    const room = Math.max(EACH_FRAME, AT_ONCE - (keys.length - missing.length));
    missing.slice(0, room).forEach((key) => drawn.current.add(key));
    isAll.current = missing.length <= room;
    return drawn.current;
  };
}

// A long list of cards of which only those near the visible part are in the page.
//
// Cards differ in height, so each is measured once it is there; until then it counts as GUESS. What is above and below
// is one empty block each. The browser's own scroll anchoring keeps the visible cards in place when a guess was wrong.

const GUESS = 92; // pixels: the height of a card with a title of one line, and the gap below it
const BEYOND = 500; // pixels above and below the visible part that are drawn, too
const STEP = 200; // pixels that have to be scrolled before it is looked at again

/**
 * @param {{items: {key: string}[], draw: (item: object) => object, guess?: number, label: string,
 *   children?: any}} props
 *   `draw` makes the one element of an item; it is to give the same object for what has not changed
 */
export function Window({ items, draw, guess = GUESS, label, children }) {
  const list = useRef(null);
  const heights = useRef(new Map());
  const [view, setView] = useState({ top: 0, height: 900 });
  const { first, last, above, below } = range(items, heights.current, guess, view);

  useLayoutEffect(() => follow(list.current, setView), []);
  useLayoutEffect(() => measure(list.current, items.slice(first, last), heights.current));

  return html`
    <div class="column-cards" ref=${list} role="list" aria-label=${label} tabindex=${items.length ? -1 : undefined}>
      <div class="column-space" role="presentation" style=${{ height: `${above}px` }}></div>
      ${items.slice(first, last).map(draw)}
      <div class="column-space" role="presentation" style=${{ height: `${below}px` }}></div>
      ${children}
    </div>`;
}

function range(items, heights, guess, view) {
  let first = 0;
  let above = 0;
  const heightOf = (item) => heights.get(item.key) ?? guess;
  while (first < items.length && above + heightOf(items[first]) < view.top - BEYOND) {
    above += heightOf(items[first++]);
  }
  let last = first;
  let reached = above;
  while (last < items.length && reached < view.top + view.height + BEYOND) reached += heightOf(items[last++]);
  let below = 0;
  for (let index = last; index < items.length; index++) below += heightOf(items[index]);
  return { first, last, above, below };
}

/** Keep `view` near what is visible of the element; returns how to stop. */
function follow(element, setView) {
  const look = () =>
    setView((old) => {
      const { scrollTop: top, clientHeight: height } = element;
      return Math.abs(top - old.top) < STEP && height <= old.height ? old : { top, height };
    });
  const resized = new ResizeObserver(look);
  resized.observe(element);
  element.addEventListener("scroll", look, { passive: true });
  look();
  return () => {
    resized.disconnect();
    element.removeEventListener("scroll", look);
  };
}

/** Write down how high the cards are; each of them counts with the gap below it. */
function measure(element, items, heights) {
  const cards = element.children;
  for (let index = 0; index < items.length; index++) {
    const card = cards[index + 1];
    const next = cards[index + 2];
    if (card && next) heights.set(items[index].key, next.offsetTop - card.offsetTop);
  }
}

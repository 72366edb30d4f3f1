// A large drawing to move about in: it scrolls as any page does, by wheel, touch and keys, is dragged with the mouse,
// and is made larger and smaller by Ctrl and the wheel, by two fingers, by + and -, and by its buttons.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/ui.js";
import { useKey } from "../../shell/keys.js";
import { useList } from "../../shell/moving.js";
import { Button, IconButton } from "../../ui/button.js";
import { number, t } from "../../words.js";

const LEAST = 0.2;
const MOST = 1.6;
const STEP = 1.2;
const DRAGGED = 4; // px; less is a click
const WHEEL = 0.0022; // zoom per pixel of the wheel

/** @param {{width: number, height: number, children: any}} props */
export function Canvas({ width, height, children }) {
  const box = useRef(null);
  const [scale, setScale] = useState(1);
  const fixed = useRef(null); // the point that stays where it is while the scale changes
  useList(box);
  useLayoutEffect(() => hold(box.current, fixed), [scale]);
  const zoom = (factor, at = middle(box.current)) => setScale((old) => {
    const made = Math.min(MOST, Math.max(LEAST, old * factor));
    const { scrollLeft, scrollTop } = box.current;
    fixed.current = { ...at, x: (scrollLeft + at.left) / old, y: (scrollTop + at.top) / old, scale: made };
    return made;
  });
  const fit = () => {
    const { clientWidth, clientHeight } = box.current;
    setScale(Math.max(LEAST, Math.min(1, clientWidth / width, clientHeight / height)));
    box.current.scrollTo(0, 0);
  };
  useKey("+", "graph.zoom_in", () => zoom(STEP), { group: "act" });
  useKey("-", "graph.zoom_out", () => zoom(1 / STEP), { group: "act" });
  useKey("0", "graph.fit", fit, { group: "act" });
  useEffect(() => listen(box.current, zoom), []);
  return html`<div class="canvas-frame">
    <div class="canvas" ref=${box} tabindex="0" role="region" aria-label=${t("graph.map")}>
      <div style=${{ width: `${width * scale}px`, height: `${height * scale}px` }}>
        <div class="canvas-paper"
          style=${{ width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` }}>${children}</div>
      </div>
    </div>
    <div class="canvas-tools" role="group" aria-label=${t("graph.zoom")}>
      <${Button} kind="quiet" title=${t("graph.zoom_out")} aria-label=${`− ${t("graph.zoom_out")}`}
        disabled=${scale <= LEAST}
        onClick=${() => zoom(1 / STEP)}>−<//>
      <span class="small muted num" role="status">${number(Math.round(scale * 100))} %</span>
      <${IconButton} kind="quiet" icon="plus" label=${t("graph.zoom_in")} onClick=${() => zoom(STEP)}
        disabled=${scale >= MOST} />
      <${IconButton} kind="quiet" icon="scan-search" label=${t("graph.fit")} onClick=${fit} />
    </div>
  </div>`;
}

const middle = (box) => ({ left: box.clientWidth / 2, top: box.clientHeight / 2 });

function hold(box, fixed) {
  if (fixed.current === null) return;
  const { x, y, left, top, scale } = fixed.current;
  fixed.current = null;
  box.scrollTo(x * scale - left, y * scale - top);
}

function listen(box, zoom) {
  const onWheel = (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // without, the wheel scrolls
    event.preventDefault();
    const { left, top } = box.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * WHEEL), { left: event.clientX - left, top: event.clientY - top });
  };
  const forget = drag(box);
  box.addEventListener("wheel", onWheel, { passive: false });
  return () => {
    box.removeEventListener("wheel", onWheel);
    forget();
  };
}

/** With the mouse; fingers scroll by themselves. */
function drag(box) {
  let from = null;
  const onDown = (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    from = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop, moved: false };
  };
  const onMove = (event) => {
    if (!from) return;
    const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
    from.moved ||= Math.hypot(dx, dy) > DRAGGED;
    if (from.moved) box.scrollTo(from.left - dx, from.top - dy);
  };
  const onUp = () => {
    if (from?.moved) addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }));
    from = null;
  };
  const swallow = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  const noGhost = (event) => event.preventDefault(); // links would be dragged away
  box.addEventListener("pointerdown", onDown);
  box.addEventListener("dragstart", noGhost);
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", onUp);
  return () => {
    box.removeEventListener("pointerdown", onDown);
    box.removeEventListener("dragstart", noGhost);
    removeEventListener("pointermove", onMove);
    removeEventListener("pointerup", onUp);
  };
}

// The track: the histogram, and the handle on it, moved by mouse, finger or keys.
import { html, useMemo, useRef } from "../../vendor/ui.js";
import { clock, span, t } from "../../words.js";
import { step, toLive } from "../../hub/replay.js";
import { hubNow, moment, now, recent } from "../../model/moment.js";
import { bars, bucketed, BUCKETS, marks, timesOf } from "./histogram.js";
import { seekShare, toBeginning, tried } from "./moves.js";

const PAGE = 50;
const KEYS = {
  ArrowLeft: () => tried(() => step(-1)), ArrowDown: () => tried(() => step(-1)),
  ArrowRight: () => tried(() => step(1)), ArrowUp: () => tried(() => step(1)),
  PageDown: () => tried(() => step(-PAGE)), PageUp: () => tried(() => step(PAGE)),
  Home: toBeginning, End: toLive,
};

/** From when to when the bar goes: it ends now, also while the past is shown. @param {Float64Array} times */
function rangeOf(times) {
  const to = Math.max(moment.value ? hubNow() : now.value, times.at(-1) ?? 0);
  return { from: times[0] ?? to - 1, to };
}

/** Dragging: at most one move a frame, of the last place. */
function useDrag(range) {
  const frame = useRef(0);
  const latest = useRef(range);
  latest.current = range;
  const move = (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => seekShare(share, latest.current));
  };
  return {
    onPointerDown: (event) => {
      if (event.button) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      move(event);
    },
    onPointerMove: (event) => event.currentTarget.hasPointerCapture(event.pointerId) && move(event),
  };
}

/** What the handle says to who does not see it. */
function told(place, count) {
  if (!moment.value) return t("replay.now", { count });
  const { at } = moment.value;
  return t("replay.moment", { time: clock(at), ago: span(hubNow() - at), place: place + 1, count });
}

export function Track() {
  const activities = recent.value;
  const times = useMemo(() => timesOf(activities), [activities]);
  const range = rangeOf(times);
  const drag = useDrag(range);
  const last = activities.length - 1;
  const place = Math.max(0, moment.value ? activities.findIndex(({ id }) => id === moment.value.id) : last);
  const share = moment.value ? ((times[place] ?? range.to) - range.from) / (range.to - range.from) : 1;
  const { counts, bad } = bucketed(activities, times, range);
  const until = Math.round(share * BUCKETS);
  const onKeyDown = (event) => {
    const run = KEYS[event.key];
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    run();
  };
  return html`<div class="bar-track" ...${drag}>
    <svg viewBox=${`0 0 ${BUCKETS} 24`} preserveAspectRatio="none" aria-hidden="true">
      <path class="bar-past" d=${bars(counts, 0, until)} />
      <path class="bar-future" d=${bars(counts, until, BUCKETS)} />
      <path class="bar-bad" d=${marks(bad)} />
    </svg>
    <div class="bar-handle" role="slider" tabindex="0" aria-label=${t("replay.slider")} aria-valuemin="1"
      aria-valuemax=${Math.max(1, activities.length)} aria-valuenow=${place + 1}
      aria-valuetext=${told(place, activities.length)} onKeyDown=${onKeyDown}
      style=${{ left: `${share * 100}%` }}></div>
  </div>`;
}

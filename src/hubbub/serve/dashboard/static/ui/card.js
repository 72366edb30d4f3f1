// A bordered box that stands for one thing; where it has an address, all of it is one link.
import { html, useEffect, useRef } from "../vendor/ui.js";

/**
 * @param {object} props
 * @param {string} [props.item] "task:ID", "approval:ID"…: what the keys `a`, `r`, `x` act on; hjkl reach it
 * @param {string} [props.href] where a click anywhere on it goes
 * @param {string} [props.name] the link's accessible name: begins with what the card shows
 * @param {boolean} [props.selected] one of those that the next action is for
 * @param {boolean} [props.current] the one that is open at the side
 * @param {boolean} [props.pending] something is being done to it, and the hub has not told what came of it
 * @param {"amber"|"red"} [props.tone]
 * @param {any} [props.flash] the card flashes when this changes
 */
export function Card({
  item, href, name, selected, current, pending, tone, flash, class: more = "", children, ...rest
}) {
  const box = useRef(null);
  useFlash(box, flash);
  const look = [
    "card", more, tone && `is-${tone}`, pending && "is-pending", selected && "is-selected",
    current && "is-current", href && "is-link",
  ].filter(Boolean).join(" ");
  return html`<div ...${rest} ref=${box} class=${look} data-item=${href ? undefined : item}
    tabindex=${item && !href ? -1 : undefined} aria-busy=${pending ? "true" : undefined}>
    ${href && html`<a class="card-link" href=${href} data-item=${item} aria-label=${name}
      aria-current=${current ? "true" : undefined}></a>`}
    ${children}
  </div>`;
}

/** Let an element flash for a moment when `value` is another than before. */
function useFlash(ref, value) {
  const before = useRef(value);
  useEffect(() => {
    if (before.current === value) return;
    before.current = value;
    const element = ref.current;
    element.classList.remove("is-flashing");
    void element.offsetWidth;
    element.classList.add("is-flashing");
  }, [value]);
}

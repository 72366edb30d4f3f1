// Tabs: one line of names, one panel; arrows move between the names.
import { html, useId, useRef } from "../vendor/ui.js";
import { Badge } from "./chip.js";

/**
 * @param {object} props
 * @param {string} props.label what the tabs are of
 * @param {{id: string, label: string, count?: number}[]} props.tabs
 * @param {string} props.current
 * @param {(id: string) => void} props.onChange
 * @param {any} props.children what the current tab shows
 */
export function Tabs({ label, tabs, current, onChange, children }) {
  const base = useId();
  const list = useRef(null);
  const onKeyDown = (event) => {
    const at = tabs.findIndex(({ id }) => id === current);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = steps[event.key] % tabs.length;
    onChange(tabs[next].id);
    list.current.children[next].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
      ${tabs.map(({ id, label: word, count }) => html`<button key=${id} type="button" role="tab"
        id=${`${base}-${id}`} aria-selected=${id === current} tabindex=${id === current ? 0 : -1}
        aria-controls=${id === current ? `${base}-panel` : undefined}
        onClick=${() => onChange(id)}>${word}<${Badge} value=${count} /></button>`)}
    </div>
    <div role="tabpanel" id=${`${base}-panel`} aria-labelledby=${`${base}-${current}`}>${children}</div>`;
}

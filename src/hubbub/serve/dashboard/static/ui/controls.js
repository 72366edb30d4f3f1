// What one presses: icons, buttons, chips, tabs, menus.

import { html, useId, useLayoutEffect, useRef, useState } from "../vendor/ui.js";

// One icon of the Lucide sprite. Always decoration: the words stand beside it, or in the name of its button.
// The sprite becomes a part of the page: a browser asks for the file again for each icon that leads to it.

const sprite = new XMLHttpRequest(); // which makes elements of it without parsing HTML
sprite.open("GET", new URL("../vendor/icons.svg", import.meta.url));
sprite.responseType = "document";
sprite.onload = () => {
  const drawn = document.importNode(sprite.responseXML.documentElement, true);
  drawn.setAttribute("hidden", "");
  for (const each of drawn.children) each.id = `icon-${each.id}`;
  document.body.append(drawn);
};
sprite.send();

/** @param {{name: string, size?: number}} props `name`: an id of vendoring/icons.txt; `size` in pixels */
export function Icon({ name, size = 16 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true">
    <use href=${`#icon-${name}`} />
  </svg>`;
}

// Buttons, and links that look like them.

/**
 * @param {object} props
 * @param {"plain"|"primary"|"quiet"|"danger"} [props.kind]
 * @param {string} [props.icon]
 * @param {string} [props.keyHint] the key that does the same, shown in a small frame
 * @param {string} [props.href] makes it a link
 * @param {boolean} [props.small]
 * @param {boolean} [props.pressed] makes it a toggle
 * @param {string} [props.class]
 * @param {any} [props.children]
 */
export function Button({ kind = "plain", icon, keyHint, href, small, pressed, class: more, children, ...rest }) {
  const look = ["button", `is-${kind}`, small && "is-small", more].filter(Boolean).join(" ");
  const inside = html`
    ${icon && html`<${Icon} name=${icon} size=${15} />`}${children}
    ${keyHint && html`<kbd aria-hidden="true">${keyHint}</kbd>`}
  `;
  if (href) return html`<a ...${rest} class=${look} href=${href}>${inside}</a>`;
  return html`<button type="button" ...${rest} class=${look} aria-pressed=${pressed}>${inside}</button>`;
}

/**
 * A button that is only an icon: `label` is its name and its tooltip.
 * @param {{icon: string, label: string, kind?: string, small?: boolean, pressed?: boolean,
 *   class?: string}} props
 */
export function IconButton({ icon, label, kind = "plain", small, pressed, class: more, ...rest }) {
  const look = ["button is-icon", `is-${kind}`, small && "is-small", more].filter(Boolean).join(" ");
  return html`<button type="button" ...${rest} class=${look} aria-label=${label} title=${label}
    aria-pressed=${pressed}><${Icon} name=${icon} size=${16} /></button>`;
}

// Small marks: a filter that is on or off, a count.

/** A filter that can be switched on and off. @param {{pressed: boolean, onClick: () => void, children: any}} props */
export function Chip({ pressed, children, ...rest }) {
  return html`<button type="button" ...${rest} class="chip" aria-pressed=${pressed}>
    <span class="clip">${children}</span>
  </button>`;
}

/**
 * A count; nothing at all where there is nothing to count.
 * @param {{value: number, tone?: "plain"|"amber"|"red"}} props
 */
export function Badge({ value, tone = "plain" }) {
  return value ? html`<span class="badge is-${tone}">${value > 9999 ? "9999+" : value}</span>` : null;
}

// Tabs: one line of names, one panel; arrows move between the names.

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

// A button that opens a list of things to do or to choose. Lies in the top layer, so nothing cuts it off.

/**
 * @typedef {{label?: any, icon?: string, run?: () => void, href?: string, checked?: boolean, radio?: boolean,
 *   danger?: boolean, disabled?: boolean, hint?: string, heading?: string, current?: boolean}} Item
 * @param {object} props
 * @param {string} props.label the button's words; with `bare` or children its name, which has what is seen in it
 * @param {boolean} [props.bare] only the icon is seen
 * @param {string} [props.kind] of the button
 * @param {boolean} [props.small]
 * @param {any} [props.children]
 * @param {string} [props.icon]
 * @param {(Item|"-"|null|false)[]|(() => Item[])} props.items "-": a line; `heading`: a line of words;
 *   a function is asked when the menu opens
 */
export function Menu({ label, icon, bare, kind, small, items, children, ...rest }) {
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const id = useId();
  const close = (back) => {
    setOpen(false);
    if (back) button.current.querySelector("button").focus();
  };
  const common = {
    kind, small, icon, "aria-haspopup": "menu", "aria-expanded": open, "aria-controls": open ? id : undefined,
    onClick: () => setOpen(!open),
  };
  return html`<span ref=${button} class="menu-at">
    ${bare ? html`<${IconButton} ...${rest} ...${common} label=${label} />`
      : html`<${Button} ...${rest} ...${common} aria-label=${children ? label : undefined}>${children ?? label}<//>`}
    ${open && html`<${Panel} id=${id} label=${label} items=${items} at=${button} close=${close} />`}
  </span>`;
}

function Panel({ id, label, items, at, close }) {
  const panel = useRef(null);
  useLayoutEffect(() => {
    const box = panel.current;
    box.showPopover();
    place(box, at.current.getBoundingClientRect());
    choices(box)[0]?.focus();
    const outside = (event) => {
      if (!box.contains(event.target) && !at.current.contains(event.target)) close(false);
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, []);
  const shown = (typeof items === "function" ? items() : items).filter(Boolean);
  return html`<div class="menu" id=${id} role="menu" aria-label=${label} popover="manual" ref=${panel}
    onKeyDown=${(event) => onKey(event, panel.current, close)}>
    ${shown.map((item, place) => html`<${Entry} key=${place} item=${item} close=${close} />`)}
  </div>`;
}

/** @param {{item: Item|"-", close: (back: boolean) => void}} props */
function Entry({ item, close }) {
  if (item === "-") return html`<hr />`;
  if (item.heading) return html`<div class="heading" role="presentation">${item.heading}</div>`;
  const checkable = item.checked !== undefined;
  const run = () => {
    if (item.disabled) return;
    if (!checkable || item.radio) close(true);
    item.run?.();
  };
  const common = {
    class: item.danger ? "item is-danger" : "item",
    role: checkable ? (item.radio ? "menuitemradio" : "menuitemcheckbox") : "menuitem",
    "aria-checked": checkable ? item.checked : undefined,
    "aria-disabled": item.disabled ? "true" : undefined,
    "aria-current": item.current ? "page" : undefined,
    tabindex: -1,
    onClick: run,
  };
  const inside = html`
    ${checkable && html`<span class="tick">${item.checked && html`<${Icon} name="check" size=${15} />`}</span>`}
    ${item.icon && html`<${Icon} name=${item.icon} />`}
    <span class="grow">${item.label}</span>
    ${item.hint && html`<span class="faint small">${item.hint}</span>`}
  `;
  return item.href ? html`<a ...${common} href=${item.href}>${inside}</a>`
    : html`<button type="button" ...${common}>${inside}</button>`;
}

/** @returns {HTMLElement[]} */
function choices(panel) {
  return [...panel.querySelectorAll(".item")];
}

/** Arrows, first letters, Esc. */
function onKey(event, panel, close) {
  const all = choices(panel);
  const at = all.findIndex((one) => one === document.activeElement);
  event.stopPropagation();
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 };
  if (event.key in steps) all[steps[event.key] % all.length]?.focus();
  else if (event.key === "Escape") close(true);
  else if (event.key === "Tab") return close(true);
  else if (event.key.length === 1 && event.key !== " ") {
    const letter = event.key.toLowerCase();
    const later = [...all.slice(at + 1), ...all.slice(0, at + 1)];
    later.find((one) => one.textContent.trim().toLowerCase().startsWith(letter))?.focus();
  } else return;
  event.preventDefault();
}

/** Under the button if there is room, else above; never beyond the edge of the window. */
function place(panel, button) {
  const { offsetWidth: width, offsetHeight: height } = panel;
  const below = button.bottom + 4;
  const top = below + height <= innerHeight - 8 ? below : Math.max(8, button.top - 4 - height);
  const startsRight = button.left + width > innerWidth - 8;
  const left = startsRight ? Math.max(8, button.right - width) : button.left;
  panel.style.top = `${top}px`;
  panel.style.left = `${left}px`;
}

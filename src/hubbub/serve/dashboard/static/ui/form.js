// What one writes into: fields, what was typed and not sent, and the key that sends it.

import { html, useId, useLayoutEffect, useRef } from "../vendor/ui.js";

// Fields of a form: a label that stays, a hint, an error; all tied together for screen readers.

/**
 * One line of text.
 * @param {{label: string, hint?: string, error?: string}} props and any attribute of an input
 */
export function Field({ label, hint, error, ...rest }) {
  return framed({ label, hint, error }, (tied) => html`<input class="input" type="text" ...${rest} ...${tied} />`);
}

/** A field of several lines that grows with its text. */
export function TextArea({ label, hint, error, ...rest }) {
  return framed({ label, hint, error }, (tied) => html`<textarea class="input" ...${rest} ...${tied}></textarea>`);
}

/**
 * One of a few.
 * @param {{label: string, hint?: string, error?: string, value?: string,
 *   options: {value: string, label: string}[]}} props
 */
export function Select({ label, hint, error, options, value, ...rest }) {
  return framed({ label, hint, error }, (tied) => html`<select class="input" ...${rest} ...${tied} value=${value}>
    ${options.map((one) => html`<option key=${one.value} value=${one.value} selected=${one.value === value}>
      ${one.label}</option>`)}
  </select>`);
}

/** Yes or no. @param {{label: any, checked?: boolean, onChange?: (event: Event) => void}} props */
export function Checkbox({ label, ...rest }) {
  return html`<label class="check"><input type="checkbox" ...${rest} /> <span>${label}</span></label>`;
}

/** @param {{label: string, hint?: string, error?: string}} words @param {(tied: object) => any} control */
function framed({ label, hint, error }, control) {
  const id = useId();
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  const tied = { id, "aria-describedby": about, "aria-invalid": error ? "true" : undefined };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${control(tied)}
    ${hint && html`<div class="hint" id=${`${id}-hint`}>${hint}</div>`}
    ${error && html`<div class="error" id=${`${id}-error`}>${error}</div>`}
  </div>`;
}

// What somebody has typed and not sent: there again wherever it was typed, for as long as the page lives.

/** The value of each field, by the name of the place. @type {Map<string, string[]>} */
const drafts = new Map();
const FIELDS = "input[type=text]:not([role]), textarea";

/**
 * Keep what is typed into the fields of an element when it goes, and type it again when it is back.
 * @param {{current: HTMLElement}} box @param {string} name
 * @returns {{current: boolean}} to be set while what is in the fields is being sent
 */
export function useDraft(box, name) {
  const isSent = useRef(false);
  useLayoutEffect(() => {
    /** @type {NodeListOf<HTMLInputElement>|undefined} */
    const found = box.current?.querySelectorAll(FIELDS);
    const fields = [...(found ?? [])];
    const first = fields.map(({ value }) => value);
    drafts.get(name)?.forEach((value, place) => fields[place] && type(fields[place], value));
    return () => {
      const last = fields.map(({ value }) => value);
      if (isSent.current || last.every((value, place) => value === first[place])) drafts.delete(name);
      else drafts.set(name, last);
    };
  }, [name]);
  return isSent;
}

/** As a person would, so that whoever follows the field hears of it. */
function type(field, value) {
  if (field.value === value) return;
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// How keys are written, with the sign that stands on the keyboard of whoever looks; and the one that sends a text.

const IS_APPLE = /Mac|iP(hone|ad|od)/.test(navigator.platform);
/** How keys are written that have no letter of their own. */
const WRITTEN = { space: "␣", Escape: "Esc", Enter: "↵" };

/** ⌘Enter or Ctrl Enter in a field sends its form. @param {KeyboardEvent} event */
export function onCommandEnter(event) {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  /** @type {HTMLInputElement} */ (event.target).form?.requestSubmit();
}

/** "mod+k" -> "⌘K" or "Ctrl K", "g b" -> "g b". @param {string} key */
export function written(key) {
  if (!key.startsWith("mod+")) return key.split(" ").map((one) => WRITTEN[one] ?? one).join(" ");
  const other = key.slice("mod+".length);
  return (IS_APPLE ? "⌘" : "Ctrl ") + (WRITTEN[other] ?? other.toUpperCase());
}

// What one writes into: fields, what was typed and not sent, and the key that sends it.

import { html, useId, useLayoutEffect, useRef, useState } from "../vendor/ui.js";
import { me, project } from "../model/store.js";
import { t } from "../i18n.js";

// Fields of a form: a label that stays, a hint, an error; all tied together for screen readers.

/**
 * One line of text.
 * @param {{label: string, hint?: string, error?: string}} props and any attribute of an input
 */
export function Field({ label, hint, error, ...rest }) {
  return html`<${Framed} label=${label} hint=${hint} error=${error} control=${(tied) =>
    html`<input class="input" type="text" ...${rest} ...${tied} />`} />`;
}

/** A field of several lines that grows with its text. */
export function TextArea({ label, hint, error, ...rest }) {
  return html`<${Framed} label=${label} hint=${hint} error=${error} control=${(tied) =>
    html`<textarea class="input" ...${rest} ...${tied}></textarea>`} />`;
}

/**
 * One of a few.
 * @param {{label: string, hint?: string, error?: string, value?: string,
 *   options: {value: string, label: string}[]}} props
 */
export function Select({ label, hint, error, options, value, ...rest }) {
  return html`<${Framed} label=${label} hint=${hint} error=${error} control=${(tied) =>
    html`<select class="input" ...${rest} ...${tied} value=${value}>
      ${options.map((one) => html`<option key=${one.value} value=${one.value} selected=${one.value === value}>
        ${one.label}</option>`)}
    </select>`} />`;
}

/** Yes or no. @param {{label: any, checked?: boolean, onChange?: (event: Event) => void}} props */
export function Checkbox({ label, ...rest }) {
  return html`<label class="check"><input type="checkbox" ...${rest} /> <span>${label}</span></label>`;
}

/**
 * What is wrong with a field when its form is sent, said below it instead of in the browser's own bubble.
 * @returns {[string|null, object]} the sentence, and what the frame of the field listens to
 */
export function useInvalid() {
  const [wrong, setWrong] = useState(null);
  const onInvalidCapture = (event) => {
    const { target } = event;
    event.preventDefault();
    setWrong(target.validity.valueMissing ? t("dialogs.required") : target.validationMessage);
    if (target.form.querySelector(":invalid") === target) target.focus();
  };
  return [wrong, { onInvalidCapture, onInput: () => setWrong(null) }];
}

/**
 * @param {{label: string, hint?: string, error?: string, control: (tied: object) => any}} props `error`: known before
 *   the form is sent
 */
function Framed({ label, hint, error: known, control }) {
  const id = useId();
  const [wrong, heard] = useInvalid();
  const error = known ?? wrong;
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  const tied = { id, "aria-describedby": about, "aria-invalid": error ? "true" : undefined };
  return html`<div class="field" ...${heard}>
    <label for=${id}>${label}</label>
    ${control(tied)}
    ${hint && html`<div class="hint" id=${`${id}-hint`}>${hint}</div>`}
    ${error && html`<div class="error" id=${`${id}-error`}>${error}</div>`}
  </div>`;
}

// What somebody has typed and not sent: there again wherever it was typed, after a reload too, until the window closes.

const STORED = "hubbub_drafts";
const FIELDS = "input[type=text]:not([role]), textarea, select";

/** The value of each field, by the name of the place. @type {Map<string, string[]>} */
const drafts = new Map(JSON.parse(sessionStorage.getItem(STORED) ?? "[]"));
/** What is being sent, and comes back if that fails. @type {[string, string[]]|null} */
let leaving = null;

/** @param {string} place @param {string[]|null} values */
function keep(place, values) {
  if (values) drafts.set(place, values);
  else if (!drafts.delete(place)) return;
  sessionStorage.setItem(STORED, JSON.stringify([...drafts]));
}

/** Whoever signs in next in this window is somebody else. */
const placeOf = (name) => [me.value?.user, project.value, name].join("\n");

/** @returns {HTMLInputElement[]} */
const fieldsOf = (box) => [...box.querySelectorAll(FIELDS)];
const valuesOf = (box) => fieldsOf(box).map(({ value }) => value);

/**
 * Keep what is typed into the fields of an element, and type it again when it is back.
 * @param {{current: HTMLElement}} box @param {string} name
 * @returns {{current: null|"sent"|"leaving"}} to be set when what is in the fields is sent; `leaving`: it comes back if
 *   the next answer of the hub is a refusal
 */
export function useDraft(box, name) {
  const sent = useRef(/** @type {null|"sent"|"leaving"} */ (null));
  useLayoutEffect(() => {
    const form = box.current;
    if (!form) return undefined;
    const place = placeOf(name);
    const first = valuesOf(form);
    fieldsOf(form).forEach((field, at) => type(field, drafts.get(place)?.[at] ?? field.value));
    const note = () => {
      const values = valuesOf(form);
      keep(place, values.some((value, at) => value !== first[at]) ? values : null);
    };
    const onInput = () => {
      sent.current = null;
      note();
    };
    form.addEventListener("input", onInput);
    return () => {
      form.removeEventListener("input", onInput);
      note();
      if (sent.current) dismissDraft(name, sent.current);
    };
  }, [name]);
  return sent;
}

/** @param {string} name @param {"sent"|"leaving"} [how] as of `useDraft` */
export function dismissDraft(name, how = "sent") {
  const place = placeOf(name);
  leaving = how === "leaving" && drafts.has(place) ? [place, drafts.get(place)] : null;
  keep(place, null);
}

/** What was on its way has arrived, or is there to be sent again. @param {boolean} arrived */
export function settleDraft(arrived) {
  if (leaving && !arrived) keep(...leaving);
  leaving = null;
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

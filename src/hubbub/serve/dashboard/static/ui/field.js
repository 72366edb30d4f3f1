// Fields of a form: a label that stays, a hint, an error; all tied together for screen readers.
import { html, useId } from "../vendor/ui.js";

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

/** One of a few. @param {{label: string, options: {value: string, label: string}[], value?: string}} props */
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

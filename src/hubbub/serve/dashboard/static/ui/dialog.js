// Dialogs: the browser's own <dialog>, which keeps the focus inside; given back to where it was when it closes.
import { html, signal, useId, useLayoutEffect, useRef, useState } from "../vendor/ui.js";
import { t } from "../words.js";
import { Button, IconButton } from "./button.js";
import { TextArea } from "./field.js";
import { onCommandEnter, written } from "./key.js";

/** The dialogs that were opened by a call, oldest first. */
const open = signal([]);

/**
 * @param {object} props
 * @param {string} props.title
 * @param {() => void} props.onClose called for Esc, the cross and a click beside it
 * @param {boolean} [props.wide]
 * @param {(event: Event) => void} [props.onSubmit] makes it a form
 * @param {any} [props.footer] its buttons
 */
export function Dialog({ title, onClose, wide, onSubmit, footer, children }) {
  const box = useRef(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    dialog.showModal();
    const first = onSubmit && dialog.querySelector("[autofocus], .dialog-body :is(input, textarea, select)");
    (first || dialog).focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const outside = (event) => event.target === box.current && onClose();
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  const submit = (event) => {
    event.preventDefault();
    onSubmit?.(event);
  };
  return html`<dialog class=${wide ? "dialog is-wide" : "dialog"} ref=${box} aria-labelledby=${id} tabindex="-1"
    onCancel=${cancel} onMouseDown=${outside}>
    <form method="dialog" onSubmit=${submit}>
      <div class="dialog-head">
        <h2 id=${id}>${title}</h2>
        <${IconButton} kind="quiet" small icon="x" label=${t("dialogs.close")} onClick=${onClose} />
      </div>
      <div class="dialog-body">${children}</div>
      ${footer && html`<div class="dialog-foot">${footer}</div>`}
    </form>
  </dialog>`;
}

/**
 * Open a dialog from anywhere (a key, a menu). @param {(close: () => void) => any} view what to show: a <Dialog>
 * @returns {() => void} closes it
 */
export function openDialog(view) {
  const entry = { view, close: () => (open.value = open.value.filter((one) => one !== entry)) };
  open.value = [...open.value, entry];
  return entry.close;
}

/** Where the dialogs of `openDialog` appear; once, in the shell. */
export function Dialogs() {
  return open.value.map((entry, at) => html`<${Opened} key=${at} entry=${entry} />`);
}

function Opened({ entry }) {
  return entry.view(entry.close);
}

/**
 * Ask for a yes.
 * @param {{title: string, text?: any, action: string, danger?: boolean}} words `action`: the button's verb
 * @returns {Promise<boolean>}
 */
export function confirm({ title, text, action, danger }) {
  return new Promise((resolve) => {
    openDialog((close) => {
      const answer = (yes) => () => {
        close();
        resolve(yes);
      };
      const footer = html`<${Button} onClick=${answer(false)}>${t("dialogs.back")}<//>
        <${Button} type="submit" kind=${danger ? "danger" : "primary"} autofocus>${action}<//>`;
      return html`<${Dialog} title=${title} onClose=${answer(false)} onSubmit=${answer(true)} footer=${footer}>
        ${text && html`<p>${text}</p>`}
      <//>`;
    });
  });
}

/**
 * Ask for one text: a reason, an answer.
 * @param {{title: string, label: string, action: string, hint?: string, danger?: boolean, optional?: boolean}} words
 * @returns {Promise<string|null>} null: thought better of it
 */
export function ask(words) {
  return new Promise((resolve) => {
    openDialog((close) => html`<${Asking} ...${words} onAnswer=${(text) => {
      close();
      resolve(text);
    }} />`);
  });
}

function Asking({ title, label, action, hint, danger, optional, onAnswer }) {
  const [text, setText] = useState("");
  const ready = optional || text.trim() !== "";
  const submit = () => ready && onAnswer(text.trim());
  const footer = html`<${Button} onClick=${() => onAnswer(null)}>${t("dialogs.back")}<//>
    <${Button} type="submit" kind=${danger ? "danger" : "primary"} disabled=${!ready}
      keyHint=${written("mod+Enter")}>${action}<//>`;
  return html`<${Dialog} title=${title} onClose=${() => onAnswer(null)} onSubmit=${submit} footer=${footer}>
    <${TextArea} label=${label} hint=${hint} value=${text} required=${!optional} rows="3"
      onInput=${(event) => setText(event.currentTarget.value)} onKeyDown=${onCommandEnter(submit)} />
  <//>`;
}

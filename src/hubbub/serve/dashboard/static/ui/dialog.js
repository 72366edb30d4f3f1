// Dialogs: the browser's own <dialog>, which keeps the focus inside; given back to where it was when it closes.

import { html, useId, useLayoutEffect, useRef, useState } from "../vendor/ui.js";
import { lostAt } from "../model/store.js";
import { t } from "../i18n.js";
import { Button, IconButton } from "./controls.js";
import { Field, onCommandEnter, TextArea, useDraft, written } from "./form.js";
import { openDialog, Toasts } from "./overlays.js";

/**
 * @param {object} props
 * @param {string} props.title
 * @param {() => void} props.onClose called for Esc, the cross and a click beside it
 * @param {boolean} [props.wide]
 * @param {(event: Event) => any} [props.onSubmit] makes it a form, with a way back; a promise: it waits for the hub
 * @param {any} [props.footer] its buttons
 * @param {string} [props.back] the words of the way back, if "Cancel" could be taken for what the dialog does
 * @param {any} [props.children]
 * @param {string} [props.draft] under which name what is typed is kept until it is sent, if the title is not enough
 */
export function Dialog({ title, onClose, wide, onSubmit, footer, back, draft = title, children }) {
  const box = useRef(null);
  const id = useId();
  const sent = useDraft(box, draft);
  useModal(box, onSubmit);
  const leave = () => {
    sent.current = null;
    onClose();
  };
  const outside = (event) => event.target === box.current && leave();
  const cancel = (event) => {
    event.preventDefault();
    leave();
  };
  const submit = (event) => {
    event.preventDefault();
    if (lostAt.value !== null) return; // as the dialog says
    sent.current = onSubmit?.(event) instanceof Promise ? "sent" : "leaving";
  };
  return html`<dialog class=${wide ? "dialog is-wide" : "dialog"} ref=${box} aria-labelledby=${id} tabindex="-1"
    onCancel=${cancel} onMouseDown=${outside}>
    <form method="dialog" onSubmit=${submit} onKeyDown=${onCommandEnter}>
      <div class="dialog-head">
        <h2 id=${id}>${title}</h2>
        <${IconButton} kind="quiet" small icon="x" label=${t("dialogs.close")} onClick=${leave} />
      </div>
      <div class="dialog-body">${children}
        ${onSubmit && html`<${Away} />`}</div>
      ${footer && html`<div class="dialog-foot">
        ${onSubmit && html`<${Button} onClick=${leave}>${back ?? t("dialogs.cancel")}<//>`}${footer}</div>`}
    </form>
    <${Toasts} />
  </dialog>`;
}

/** Where the focus goes, the best first. */
const FIRST = ["[autofocus]", ".dialog-body :is(input, textarea, select)"];

/** Above the buttons while the hub is away, as the strip of the page is behind the dialog. */
const Away = () =>
  html`<p class="dialog-away amber small" role="status">${lostAt.value !== null && t("dialogs.away")}</p>`;

/** Opened as a modal, the focus where one writes if it is a form, and given back afterwards. */
function useModal(box, isForm) {
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    dialog.showModal();
    const first = isForm && FIRST.map((each) => dialog.querySelector(each)).find(Boolean);
    (first || dialog).focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
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
      const footer = html`
        <${Button} type="submit" kind=${danger ? "danger" : "primary"} autofocus>${action}<//>`;
      return html`<${Dialog} title=${title} onClose=${answer(false)} onSubmit=${answer(true)} footer=${footer}>
        ${text && html`<p>${text}</p>`}
      <//>`;
    });
  });
}

/**
 * Ask for one text: a reason, an answer, a name.
 * @param {{title: string, label: string, action: string, hint?: string, danger?: boolean, optional?: boolean,
 *   short?: boolean, back?: string}} words `short`: a name, in one line, which Enter sends; `back`: as of `Dialog`
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

/**
 * Ask for a first and a last day, one of which may be left open.
 * @param {{title: string, action: string}} words
 * @returns {Promise<string|null>} such as 2026-11-01..2026-11-07; null: thought better of it
 */
export function askDates(words) {
  return new Promise((resolve) => {
    openDialog((close) => html`<${AskingDates} ...${words} onAnswer=${(dates) => {
      close();
      resolve(dates);
    }} />`);
  });
}

function AskingDates({ title, action, onAnswer }) {
  const [first, setFirst] = useState("");
  const [last, setLast] = useState("");
  const ready = Boolean(first || last);
  const footer = html`<${Button} type="submit" kind="primary" disabled=${!ready}>${action}<//>`;
  return html`<${Dialog} title=${title} onClose=${() => onAnswer(null)} footer=${footer}
    onSubmit=${() => ready && onAnswer(`${first}..${last}`)}>
    <${Field} type="date" label=${t("dialogs.first_day")} value=${first} max=${last}
      onInput=${(event) => setFirst(event.currentTarget.value)} />
    <${Field} type="date" label=${t("dialogs.last_day")} value=${last} min=${first}
      onInput=${(event) => setLast(event.currentTarget.value)} />
  <//>`;
}

function Asking({ title, label, action, hint, danger, optional, short, back, onAnswer }) {
  const [text, setText] = useState("");
  const ready = optional || text.trim() !== "";
  const submit = () => ready && onAnswer(text.trim());
  const footer = html`
    <${Button} type="submit" kind=${danger ? "danger" : "primary"} disabled=${!ready}
      keyHint=${written(short ? "Enter" : "mod+Enter")}>${action}<//>`;
  return html`<${Dialog} title=${title} onClose=${() => onAnswer(null)} onSubmit=${submit} footer=${footer}
    back=${back}>
    <${short ? Field : TextArea} label=${label} hint=${hint} value=${text} required=${!optional}
      rows=${short ? undefined : 3} onInput=${(event) => setText(event.currentTarget.value)} />
  <//>`;
}

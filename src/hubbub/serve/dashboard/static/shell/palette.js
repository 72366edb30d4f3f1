// ⌘K: everything by its name. Views, tasks, agents, files and what can be done, found while one types.

import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../vendor/ui.js";
import { Refused } from "../hub/api.js";
import { read } from "../hub/endpoints.js";
import { t } from "../i18n.js";
import { lazy } from "./lazy.js";
import { Icon } from "../ui/controls.js";
import { Toasts } from "../ui/overlays.js";

// Tasks that the page does not have any more: asked of the hub when somebody stops typing for a moment.

/** How long somebody must have stopped typing (ms). */
const PAUSE = 250;
const MOST = 10;
/** Fewer letters are in too many titles. */
const LEAST = 2;

/** The tasks that the hub finds for what was typed. @param {string} typed @returns {any[]} */
function useHubSearch(typed) {
  const [answer, setAnswer] = useState({ words: "", tasks: [] });
  const words = typed.trim();
  useEffect(() => {
    if (words.length < LEAST) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const tasks = await ask(words, stop.signal);
      if (tasks) setAnswer({ words, tasks });
    }, PAUSE);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [words]);
  return answer.words === words ? answer.tasks : [];
}

/** @returns {Promise<any[]|null>} null: nobody waits for it any more, or the hub is away */
async function ask(words, signal) {
  try {
    const { tasks } = await read.tasks({ q: words, limit: MOST });
    return signal.aborted ? null : tasks;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** @param {{onClose: () => void}} props */
export function Palette({ onClose }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const box = useModal();
  const id = useId();
  const all = useFound(typed);
  const current = Math.min(at, all.length - 1);
  const choose = (one) => {
    onClose();
    one.run();
  };
  const onKeyDown = (event) => {
    const steps = { ArrowDown: current + 1, ArrowUp: current - 1 + all.length, PageDown: all.length - 1, PageUp: 0 };
    if (event.key in steps && all.length) setAt(steps[event.key] % all.length);
    else if (event.key === "Enter" && !event.isComposing && all[current]) choose(all[current]);
    else return;
    event.preventDefault();
  };
  const type = (event) => {
    setTyped(event.currentTarget.value);
    setAt(0);
  };
  return html`<dialog class="dialog palette" ref=${box} aria-label=${t("shell.search")} onKeyDown=${onKeyDown}
    onCancel=${(event) => (event.preventDefault(), onClose())}
    onMouseDown=${(event) => event.target === box.current && onClose()}>
    <div class="palette-field">
      <${Icon} name="search" />
      <input type="text" role="combobox" aria-expanded="true" aria-controls=${id} aria-autocomplete="list"
        aria-activedescendant=${all.length ? `${id}-${current}` : undefined} aria-label=${t("palette.label")}
        placeholder=${t("palette.label")} value=${typed} onInput=${type} autocomplete="off" spellcheck="false" />
      <kbd aria-hidden="true">Esc</kbd>
    </div>
    <${Results} id=${id} all=${all} current=${current} choose=${choose} point=${setAt} />
    ${!all.length && html`<p class="palette-none">${t("palette.none")}</p>`}
    <${Toasts} />
    <span class="sr" role="status">${t("palette.found", { count: all.length })}</span>
  </dialog>`;
}

function Results({ id, all, current, choose, point }) {
  const list = useRef(null);
  useEffect(() => list.current.children[current]?.scrollIntoView({ block: "nearest" }), [current, all.length]);
  return html`<div class="palette-list" role="listbox" id=${id} aria-label=${t("shell.search")} ref=${list}>
    ${all.map((one, place) => html`<${Result} key=${one.key} one=${one} id=${`${id}-${place}`}
      current=${place === current} choose=${choose} point=${() => place !== current && point(place)} />`)}
  </div>`;
}

function Result({ one, id, current, choose, point }) {
  const { mark, label, hint } = one.look();
  return html`<div role="option" id=${id} aria-selected=${current} onClick=${() => choose(one)} onMouseMove=${point}>
    ${mark}<span class="grow clip">${label}</span>
    ${hint && html`<span class="faint small palette-hint">${hint}</span>`}
  </div>`;
}

/** What fits: of what the page knows, and then of what only the hub knows. */
function useFound(typed) {
  const [search, setSearch] = useState(null);
  useEffect(() => {
    lazy("search").then(setSearch);
  }, []);
  const older = useHubSearch(typed);
  if (!search) return [];
  const here = search.found(typed);
  const known = new Set(here.map(({ key }) => key));
  return [...here, ...older.map(search.ofTask).filter(({ key }) => !known.has(key))];
}

/** Opened as a modal, the focus in its field and given back afterwards. */
function useModal() {
  const box = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    box.current.querySelector("input").focus();
    return () => {
      box.current?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return box;
}

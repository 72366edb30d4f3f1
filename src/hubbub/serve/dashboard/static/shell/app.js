// The frame around every view: what stands where, and the keys that act everywhere.

import { computed, html, useEffect, useLayoutEffect } from "../vendor/ui.js";
import { waiting } from "../model/needs.js";
import { lostAt, moment, project } from "../model/store.js";
import { connection, hurry } from "../hub/stream.js";
import { clock, t } from "../i18n.js";
import { openHelp } from "./dialogs.js";
import { isTyping, listen, register, registerMoving, useKey } from "./keyboard.js";
import { LazyView } from "./lazy.js";
import { Nav, OPERATE, WATCH } from "./nav.js";
import { Bar } from "./replay_bar.js";
import { go, route, set } from "./router.js";
import { Top } from "./top.js";
import { Button } from "../ui/controls.js";
import { Empty } from "../ui/empty.js";
import { Dialogs, Toasts } from "../ui/overlays.js";

/** Why the hub does not show the project any more; null while it does. */
const refusal = computed(() => (connection.value.status === "refused" ? connection.value.why ?? "" : null));

/** What Esc closes, the first that is open. */
const CLOSED = ["task", "agent", "node", "file", "thread"];

/** The views that show nothing of the past, and have no use for the replay bar. */
const TIMELESS = ["audit", "settings"];

export function App() {
  useKeysOfAll();
  useTitle();
  const { view, query } = route.value;
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${skip}>${t("shell.skip")}</a>
    <${Nav} />
    <${Top} />
    <${Away} />
    <main class="main" id="main" tabindex="-1" data-view=${view}>
      ${project.value === null ? html`<${Empty} icon="house" title=${t("empty.no_project")}
          text=${t("empty.no_project_means")} command="hubbub project create my-project" />`
        : refusal.value !== null
          ? html`<${Empty} icon="wifi-off" title=${t("shell.refused")} text=${refusal.value} />`
          : html`<${LazyView} key=${view} path=${view} />`}
    </main>
    ${refusal.value === null && (query.task || query.agent) && html`<${Side} query=${query} />`}
    <${Toasts} />
    ${project.value !== null && (!TIMELESS.includes(view) || moment.value) && html`<${Bar} />`}
    <${Dialogs} />
  </div>`;
}

/** Above the view while the hub is away: since when, and what becomes of what one does. Always there, to be heard. */
function Away() {
  const at = lostAt.value;
  return html`<div class="away" role="status">${at !== null && html`
    <span class="grow">${t("shell.away", { time: clock(at) })}</span>
    <${Button} small onClick=${hurry}>${t("shell.try_now")}<//>`}</div>`;
}

/** Past the navigation. */
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

/** At the side of the view: one task, or one agent. */
function Side({ query }) {
  const label = t(query.task ? "shell.side_task" : "shell.side_agent");
  return html`<aside class="side" aria-label=${label}>
    ${query.task ? html`<${LazyView} key="task" path="task/inspector" id=${query.task} />`
      : html`<${LazyView} key="agent" path="agent/panel" agent=${query.agent} onClose=${closeSide} />`}
  </aside>`;
}

const closeSide = () => set({ task: null, agent: null });

/** `g` and a letter for each view; Esc closes what is open. */
function useKeysOfAll() {
  useLayoutEffect(() => {
    listen();
    const forget = [...WATCH, ...OPERATE].map(({ view, chord }) =>
      register({ key: `g ${chord}`, word: `shell.${view}`, group: "go", run: () => go(view) }));
    return () => forget.forEach((one) => one());
  }, []);
  useLayoutEffect(registerMoving, []);
  useKey("?", "keys.help", openHelp, { group: "find" });
  useKey("Escape", "keys.close", close, { group: "move" });
}

/** Out of a field first, so that nobody loses what they write; then back to the card of what is closed. */
function close(_item, { target }) {
  if (isTyping(target)) return target.blur();
  const open = CLOSED.find((key) => route.value.query[key]);
  if (!open) return false;
  /** @type {HTMLElement|null} */
  const card = document.querySelector("main .card-link[aria-current=true]");
  card?.focus({ preventScroll: true });
  return set({ [open]: null });
}

/** The tab says where one is, and how much waits. */
function useTitle() {
  const count = waiting.value.length;
  const title = [t(`shell.${route.value.view}`), project.value, "hubbub"].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = count ? `(${count}) ${title}` : title;
  }, [count, title]);
}

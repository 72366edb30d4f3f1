// The left edge: project, views with their counts, and whether the page is live. On phones: tabs below.

import { computed, html } from "../vendor/ui.js";
import { waiting } from "../model/needs.js";
import { isEnded } from "../model/states.js";
import { agents, letters, me, moment, overlaps, project, standstill, tasks } from "../model/store.js";
import { connection } from "../hub/stream.js";
import { span, t } from "../i18n.js";
import { lazy } from "./lazy.js";
import { href, route } from "./router.js";
import { Badge, Button, Icon, Menu } from "../ui/controls.js";

// The views: which there are, their icon, their chord, and the numbers beside their names.

const count = (map, holds) => {
  let found = 0;
  for (const card of map.values()) if (holds(card)) found += 1;
  return found;
};

/** @typedef {{view: string, icon: string, chord: string, count?: {value: number}, amber?: boolean}} View */

/** What people look at. @type {View[]} */
export const WATCH = [
  { view: "needs", icon: "inbox", chord: "i", count: computed(() => waiting.value.length), amber: true },
  { view: "board", icon: "layout-dashboard", chord: "b",
    count: computed(() => count(tasks.value, (task) => !isEnded(task))) },
  { view: "fleet", icon: "bot", chord: "f", count: computed(() => count(agents.value, (agent) => agent.live)) },
  { view: "messages", icon: "messages-square", chord: "m", count: computed(() => letters.value.size) },
  { view: "files", icon: "folder-tree", chord: "c", count: computed(() => overlaps.value.size), amber: true },
  { view: "graph", icon: "workflow", chord: "d" },
  { view: "activity", icon: "activity", chord: "a" },
];

/** What keeps it all going. @type {View[]} */
export const OPERATE = [
  { view: "machines", icon: "server", chord: "n" },
  { view: "cost", icon: "timer", chord: "e" },
  { view: "audit", icon: "scroll-text", chord: "u" },
  { view: "settings", icon: "settings", chord: "s" },
];

/** Those that have a place of their own at the lower edge of a phone. */
const ON_PHONE = ["needs", "board", "fleet", "activity"];

export function Nav() {
  const more = [...WATCH, ...OPERATE].filter(({ view }) => !ON_PHONE.includes(view));
  const isMore = more.some(({ view }) => view === route.value.view);
  return html`<nav class="nav" aria-label=${t("shell.views")}>
    <div class="nav-head">
      <a class="brand" href=${href("needs")} aria-label=${t("shell.home")}><${Mark} /><b>hubbub</b></a>
      <${Projects} />
    </div>
    <ul class="nav-list">${WATCH.map((one) => html`<${Entry} key=${one.view} ...${one} />`)}</ul>
    <h2 class="nav-group">${t("shell.operate")}</h2>
    <ul class="nav-list">${OPERATE.map((one) => html`<${Entry} key=${one.view} ...${one} />`)}</ul>
    <div class="nav-more">
      <${Menu} kind="quiet" label=${t("shell.more")} aria-current=${isMore ? "true" : undefined}
        items=${[...more.map(inMenu), "-", ...projects(), adding()]}>
        <${Icon} name="ellipsis" size=${18} /><span>${t("shell.more")}</span>
      <//>
    </div>
    ${project.value !== null && html`<${Connection} />`}
  </nav>`;
}

/** The hub's mark: what all lines meet in. */
function Mark({ size = 20 }) {
  return html`<svg class="mark" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true">
    <path d="M12 3v6m0 6v6M4.2 7.5l5.2 3m5.2 3 5.2 3M4.2 16.5l5.2-3m5.2-3 5.2-3" />
    <circle cx="12" cy="12" r="3" />
  </svg>`;
}

/** @param {View} props */
function Entry({ view, icon, chord, count, amber }) {
  const word = t(`shell.${view}`);
  const here = route.value.view === view;
  const phone = ON_PHONE.includes(view) ? "nav-item" : "nav-item not-phone";
  return html`<li class=${phone}>
    <a href=${href(view)} aria-current=${here ? "page" : undefined} title=${`${word} (g ${chord})`}>
      <${Icon} name=${icon} size=${17} /><span class="nav-word">${word}</span>
      <${Badge} value=${count?.value} tone=${amber ? "amber" : "plain"} />
    </a>
  </li>`;
}

async function addProject() {
  (await lazy("project"))?.addProject();
}

/** Anybody who signs in may add one. */
const adding = () =>
  ({ label: t("shell.add_project"), icon: "plus", run: addProject, disabled: standstill.value !== null });

/** Those that one may enter; the one that is shown has a mark. */
const projects = () => (me.value?.projects ?? []).map(({ slug, name }) => ({
  label: name || slug, hint: name && name !== slug ? slug : undefined, radio: true, checked: slug === project.value,
  href: `/?project=${encodeURIComponent(slug)}`,
}));

/** The project that is shown, with the others and another one to be added. */
function Projects() {
  const items = projects();
  if (!items.length) {
    return html`<${Button} kind="quiet" small class="project" onClick=${addProject}>
      <span class="clip">${t("shell.add_project")}</span><//>`;
  }
  items.push("-", adding());
  const name = `${project.value}, ${t("shell.switch_project")}`;
  return html`<${Menu} kind="quiet" small label=${name} items=${items} class="project">
    <span class="clip">${project.value}</span><${Icon} name="chevron-down" size=${13} />
  <//>`;
}

/** @param {View} props */
const inMenu = ({ view, icon, count }) => ({
  label: t(`shell.${view}`), icon, href: href(view), hint: count?.value ? String(count.value) : undefined,
  current: route.value.view === view,
});

/** Whether what is seen is what is: always in sight. */
function Connection() {
  const { status, behindMs, id, why } = connection.value;
  const words = moment.value ? t("shell.past") : status !== "live" ? t(`shell.${status}`)
    : behindMs < 1000 ? t("shell.live") : t("shell.live_behind", { span: span(behindMs) });
  return html`<div class="connection" data-status=${moment.value ? "past" : status} title=${why ?? words}>
    <span class="row"><i class="dot"></i><span class="connection-word">${words}</span></span>
    <span class="connection-event num">${t("shell.event", { id: String(moment.value?.id ?? id) })}</span>
    <span class="sr" role="status">${status === "live" ? "" : words}</span>
  </div>`;
}

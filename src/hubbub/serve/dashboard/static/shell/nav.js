// The left edge: project, views with their counts, and whether the page is live. On phones: tabs below.
import { html } from "../vendor/ui.js";
import { connection } from "../hub/live.js";
import { me, moment, project } from "../model/moment.js";
import { span, t } from "../words.js";
import { Button } from "../ui/button.js";
import { Badge } from "../ui/chip.js";
import { Icon } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import { late } from "./late.js";
import { href, route } from "./router.js";
import { ON_PHONE, OPERATE, WATCH } from "./views.js";

export function Nav() {
  const more = [...WATCH, ...OPERATE].filter(({ view }) => !ON_PHONE.includes(view));
  return html`<nav class="nav" aria-label=${t("shell.views")}>
    <div class="nav-head">
      <a class="brand" href=${href("needs")} aria-label=${t("shell.home")}><${Mark} /><b>hubbub</b></a>
      <${Projects} />
    </div>
    <ul class="nav-list">${WATCH.map((one) => html`<${Entry} key=${one.view} ...${one} />`)}</ul>
    <h2 class="nav-group">${t("shell.operate")}</h2>
    <ul class="nav-list">${OPERATE.map((one) => html`<${Entry} key=${one.view} ...${one} />`)}</ul>
    <div class="nav-more">
      <${Menu} kind="quiet" label=${t("shell.more")}
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

/** @param {import("./views.js").View} props */
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
  (await late("project"))?.addProject();
}

/** Anybody who signs in may add one. */
const adding = () =>
  ({ label: t("shell.add_project"), icon: "plus", run: addProject, disabled: moment.value !== null });

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

const inMenu = ({ view, icon, count }) => ({
  label: t(`shell.${view}`), icon, href: href(view), hint: count?.value ? String(count.value) : undefined,
});

/** Whether what is seen is what is: always in sight. */
function Connection() {
  const { status, behindMs, id, why } = connection.value;
  const words = status !== "live" ? t(`shell.${status}`)
    : behindMs < 1000 ? t("shell.live") : t("shell.live_behind", { span: span(behindMs) });
  return html`<div class="connection" data-status=${status} title=${why ?? words}>
    <span class="row"><i class="dot"></i><span class="connection-word">${words}</span></span>
    <span class="connection-event num">${t("shell.event", { id: String(moment.value?.id ?? id) })}</span>
    <span class="sr" role="status">${status === "live" ? "" : words}</span>
  </div>`;
}

// The beginning: who looks, in which language, at which project; then the stream and the page.

import { batch, effect, h, render } from "./vendor/ui.js";
import { loaded, me, project } from "./model/store.js";
import { onAnswer } from "./hub/actions.js";
import { restore } from "./hub/replay.js";
import { connection, follow, isLive } from "./hub/stream.js";
import { loadWords, t } from "./i18n.js";
import { App } from "./shell/app.js";
import { fetchAhead } from "./shell/lazy.js";
import { listensHidden, watchNeeds } from "./shell/notifications.js";
import { go, listen, route, set } from "./shell/router.js";
import { settleDraft } from "./ui/form.js";
import { dismissAway, toast } from "./ui/overlays.js";

/** What the hub wrote into the page: who looks. Says which project was asked for, if it is not one of theirs. */
function boot() {
  const { me: person, csrf } = JSON.parse(document.getElementById("boot").textContent);
  const asked = route.value.query.project;
  const slugs = person.projects.map((each) => each.slug);
  batch(() => {
    me.value = { ...person, csrf: person.csrf ?? csrf };
    project.value = slugs.includes(asked) ? asked : (slugs[0] ?? null);
  });
  if (asked && asked !== project.value) return asked;
  if (project.value) set({ project: project.value }, { replace: true }); // whoever gets the address sees the same
  return null;
}

const closed = boot();
if (closed) go("needs", { project: project.value, at: null }, { replace: true }); // the rest was about that one
listen();
onAnswer((refusal, isAway) => {
  settleDraft(refusal === null);
  if (refusal !== null) toast(refusal, { kind: isAway ? "away" : "error" });
});
if (project.value) {
  follow({ listensHidden });
  restore(); // before anything is shown: a link to the past must not show the present first
}
await loadWords();
render(h(App, null), document.getElementById("app"));
watchNeeds();
fetchAhead();
if (closed) toast(t("errors.no_such_project", { project: closed }), { kind: "error" });

// Says to whoever waits for it, such as a test, whether the page shows the project as it is.
effect(() => {
  const { dataset } = document.documentElement;
  dataset.connection = connection.value.status;
  if (loaded.value || !project.value) dataset.ready = "true";
});

effect(() => {
  if (isLive.value) dismissAway();
});

// Another project is another world: nothing of the old one is kept.
effect(() => {
  const asked = route.value.query.project;
  if (asked && asked !== project.peek()) location.reload();
});

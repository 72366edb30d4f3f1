// Where nothing needs a person: what would stand here, and, where nobody is there any more, how it was.

import { html } from "../vendor/ui.js";
import { agents, isGuest, moment, recent } from "../model/store.js";
import { playFromStart } from "../hub/replay.js";
import { t } from "../i18n.js";
import { go, href } from "../shell/router.js";
import { Button } from "../ui/controls.js";
import { Empty } from "../ui/empty.js";

const STORY = 20; // activities: fewer tell none

/** Whether all are gone who did something here. */
const isOver = () =>
  !moment.value && recent.value.length >= STORY && !agents.value.values().some((agent) => agent.live);

async function replay() {
  go("board");
  await playFromStart();
}

export function NothingWaits() {
  return html`<${Empty} icon="circle-check" title=${t("needs.empty_title")} text=${t("needs.empty_text")}>
    ${isGuest() && html`<a class="link" href=${href("settings", { tab: "connect" })}>${t("steps.own_client")}</a>`}
    ${isOver() && html`<${Button} icon="play" onClick=${replay}>${t("needs.replay")}<//>`}
  <//>`;
}

// The replay bar: the log as a row of bars, and a handle that says which moment is shown. All the way to the right is
// now. Nothing here changes anything on the hub.
import { html } from "../vendor/ui.js";
import { hourAndMinute, span, t } from "../words.js";
import { connection } from "../hub/live.js";
import { loading, pause, play, playing, step, toLive } from "../hub/replay.js";
import { hubNow, moment, now } from "../model/moment.js";
import { Clock } from "../ui/ago.js";
import { Button, IconButton } from "../ui/button.js";
import { loadEarlier, tried } from "./bar/moves.js";
import { Track } from "./bar/track.js";
import { useKey } from "./keys.js";

/** How the page is connected: said here too, as small screens have no room for it elsewhere. */
function Pill() {
  const { status } = connection.value;
  const isLive = !moment.value;
  const word = isLive && status !== "live" ? t(`shell.${status}`) : t("replay.live");
  return html`<button type="button" class=${`bar-live is-${isLive ? status : "past"}`} onClick=${toLive}
    title=${t(isLive ? "replay.is_live" : "replay.back")}><i aria-hidden="true"></i>${word}</button>`;
}

/** While the past is shown: which moment, and that nothing can be done to it. */
function Strip() {
  const { at } = moment.value;
  const words = { time: hourAndMinute(at), ago: span(hubNow() - at) };
  return html`<div class="bar-strip" role="note"><span class="grow">${t("replay.strip", words)}</span>
    <${Button} small onClick=${toLive}>${t("replay.back")}<//></div>`;
}

function Time() {
  const at = now.value;
  return html`<div class="bar-time mono num">
    ${moment.value && html`<strong>-${span(hubNow() - at)}</strong>`}
    <${Clock} at=${at} />
  </div>`;
}

const PRESSED = "button, a, summary, [role=button], [role=tab]";

/** Space presses what has the focus, if that can be pressed. */
function playOrPause(_item, event) {
  if (event?.target instanceof Element && event.target.closest(PRESSED)) return false;
  return playing.value ? pause() : tried(play);
}

export function Bar() {
  useKey("[", "replay.key_back", () => tried(() => step(-1)), { group: "time" });
  useKey("]", "replay.key_on", () => tried(() => step(1)), { group: "time" });
  useKey("space", "replay.key_play", playOrPause, { group: "time" });
  const isPlaying = playing.value;
  return html`<section class=${`bar ${moment.value ? "is-past" : ""}`} aria-label=${t("replay.title")}>
    ${moment.value && html`<${Strip} />`}
    <div class="bar-line">
      <${Pill} />
      <span class="bar-play">
        <${IconButton} icon=${isPlaying ? "pause" : "play"} label=${t(isPlaying ? "replay.pause" : "replay.play")}
          onClick=${() => (isPlaying ? pause() : tried(play))} /></span>
      <span class="bar-earlier">
        <${IconButton} kind="quiet" small icon="skip-back" label=${t("replay.earlier")}
          disabled=${loading.value} onClick=${loadEarlier} /></span>
      <${Track} />
      <${Time} />
    </div>
  </section>`;
}

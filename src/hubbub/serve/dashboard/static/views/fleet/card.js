// One agent of the fleet: how it is, what it is at, what it was seen to do, and how it hears of new work.

import { html } from "../../vendor/ui.js";
import { isNew } from "../../model/states.js";
import { Ago } from "../../ui/ago.js";
import { Card } from "../../ui/card.js";
import { StateWord, stateWord } from "../../ui/glyph.js";
import { Icon } from "../../ui/icon.js";
import { Sparkline } from "../../ui/sparkline.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { span, t } from "../../words.js";

/** What to type to start a client, where that is not its name. */
const PROGRAMS = { "claude-code": "claude", "claude-desktop": "Claude Desktop", cline: "code", vscode: "code" };
const METHOD_ICONS = { stream: "zap", worker: "play", wait: "timer", none: "bell-off" };

/**
 * @param {object} props
 * @param {object} props.agent @param {string} props.state @param {object} [props.task] what it is at
 * @param {number[]} props.pulse @param {object} [props.fact] what `GET /agents` tells of it
 * @param {string} props.href @param {string} [props.taskHref] @param {boolean} props.current
 */
export function AgentCard({ agent, state, task, pulse, fact, href, taskHref, current, picture }) {
  const about = [agent.runtime ?? fact?.runtime, agent.area].filter(Boolean).join(", ");
  return html`<${Card} item=${`agent:${agent.name}`} href=${href} current=${current} class="agent" flash=${state}
    name=${`${agent.name}, ${stateWord(state, true)}`}>
    <div class="row agent-head">
      <${Tile} agent=${agent} picture=${picture} />
      <div class="grow"><${Text} value=${agent.name} lines=${1} class="strong" />
        <div class="meta faint clip">${about || t("fleet.no_runtime")}</div></div>
      <${StateWord} agent state=${state} />
    </div>
    <${Current} task=${task} doing=${state === "idle" || !agent.live ? null : agent.doing} href=${taskHref} />
    <${Sparkline} values=${pulse} label=${pulseWords(pulse)} height=${16} />
    <${Evidence} fact=${fact} agent=${agent} />
  <//>`;
}

function Current({ task, doing, href }) {
  if (!task) {
    return html`<div class="agent-task small muted clip">${doing ? html`<${Text}
      value=${doing} />` : t("fleet.no_task")}</div>`;
  }
  return html`<a class="agent-task above clip" href=${href}>
    <span class="mono faint">T-${task.number}</span> <${Text} value=${task.title} /></a>`;
}

/** What it did last, which its heartbeat says nothing about; what waits for it, and how it would hear of that. */
function Evidence({ fact, agent }) {
  if (!fact) return html`<div class="agent-facts meta faint"></div>`;
  const last = latest(fact);
  return html`<div class="agent-facts meta faint">
    <span class="clip grow">${last ? html`${last.word} <${Ago} at=${last.at} />` : none(agent, fact)}</span>
    ${fact.unread > 0 && html`<span class="row-tight" title=${t("fleet.unread", { count: fact.unread })}>
      <${Icon} name="mail" size=${12} /><span aria-hidden="true" class="num">${fact.unread}</span>
      <span class="sr">${t("fleet.unread", { count: fact.unread })}</span></span>`}
    ${agent.live && html`<${Wake} wake=${fact.wake} isMissed=${fact.unread > 0} />`}
  </div>`;
}

/** Why nothing was seen of it. */
export function none(agent, fact) {
  if (!isNew(agent)) return t("fleet.no_evidence");
  const program = PROGRAMS[fact.runtime] ?? fact.runtime;
  return program ? html`${t("fleet.not_started_but")} <bdi class="mono">${program}</bdi>` : t("fleet.not_started");
}

/** @returns {{word: any, at: number}|null} the younger of its last call of a tool and its last line of output */
function latest(fact) {
  const tool = fact.last_tool_at ?? 0;
  const output = fact.last_output_at ?? 0;
  if (!tool && !output) return null;
  if (output > tool) return { word: t("fleet.put_out"), at: output };
  return { word: html`${t("fleet.ran")} <bdi class="mono">${fact.last_tool}</bdi>`, at: tool };
}

/** How it hears of a letter, and how that went last time. It is missed where something waits and nothing listens. */
function Wake({ wake, isMissed }) {
  if (!wake) return null;
  const words = wakeWords(wake);
  return html`<span class=${`row-tight ${isMissed && wake.method === "none" ? "amber" : ""}`} title=${words}>
    <${Icon} name=${METHOD_ICONS[wake.method] ?? "bell"} size=${12} />
    <span aria-hidden="true">${t(`fleet.wake_${wake.method}`)}</span><span class="sr">${words}</span></span>`;
}

/** Both in one sentence. */
export function wakeWords(wake) {
  const last = wake.last_wake;
  const status = last && t(`fleet.wake_is_${last.status}`);
  const woken = last ? ` ${t("fleet.wake_last", { client: last.client, status })}` : "";
  const method = t(`fleet.wake_${wake.method}_long`) + woken;
  if (!wake.last) return `${method} ${t("fleet.wake_never")}`;
  return `${method} ${t(`fleet.woken_${wake.last.kind}`, { after: seconds(wake.last.after_ms) })}`;
}

/** Under a second nobody counts. */
const seconds = (milliseconds) => span(Math.max(1000, milliseconds));

function pulseWords(pulse) {
  return t("fleet.pulse", { count: pulse.reduce((sum, count) => sum + count, 0) });
}

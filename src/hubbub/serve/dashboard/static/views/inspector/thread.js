// What was said about a task: who to whom, and how far each message got.

import { html } from "../../vendor/ui.js";
import { Ago } from "../../ui/ago.js";
import { Icon } from "../../ui/icon.js";
import { Markdown } from "../../ui/markdown.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { fullTime, t } from "../../words.js";

/** @param {{details: object, picture: object}} props */
export function Thread({ details, picture }) {
  const { messages } = details;
  return html`
    <section class="inspector-part">
      <h3>${t("inspector.thread")} <small class="num">${messages.length}</small></h3>
      ${messages.length === 0 && html`<p class="faint">${t("inspector.thread_empty")}</p>`}
      <ol class="thread">
        ${messages.map((message) => html`<${Message} key=${message.id} message=${message} picture=${picture} />`)}
      </ol>
    </section>`;
}

function Message({ message, picture }) {
  const { author, sender, recipient, body, body_html: rendered, deliveries = [], created_at: at } = message;
  const who = sender === "hub" ? (author ?? t("inspector.people")) : sender;
  const whom = recipient === null ? t("inspector.everyone") : recipient === "hub" ? t("inspector.people") : recipient;
  return html`
    <li class="thread-message">
      <${Tile} small agent=${who} picture=${picture} />
      <div class="grow">
        <div class="thread-head"><bdi class="strong">${who}</bdi>
          <span class="muted">${t("inspector.to_whom", { name: "" })}<bdi>${whom}</bdi></span>
          <span class="faint"><${Ago} at=${at} /></span></div>
        <div class="thread-body">
          ${rendered ? html`<${Markdown} html=${rendered} />` : html`<${Text} value=${body} />`}</div>
        ${deliveries.length > 0 && html`<${Deliveries} deliveries=${deliveries} />`}
      </div>
    </li>`;
}

const STAGES = [
  ["acked_at", "check-check", "acked"], ["seen_at", "eye", "seen"], ["notified_at", "bell", "notified"],
  ["stored_at", "inbox", "stored"],
];

/** How far it got with each recipient: kept, announced, read, acknowledged. */
function Deliveries({ deliveries }) {
  return html`<div class="thread-ticks">${deliveries.map((delivery) => {
    const [key, icon, stage] = STAGES.find(([at]) => delivery[at]) ?? STAGES.at(-1);
    const passed = STAGES.filter(([at]) => delivery[at]).toReversed()
      .map(([at, , name]) => `${t(`inspector.${name}`)} ${fullTime(delivery[at])}`);
    return html`<span key=${delivery.id} class="thread-tick is-${stage}" title=${passed.join("\n")}>
      <${Icon} name=${icon} size=${12} />${t(`inspector.${stage}`)}
      ${deliveries.length > 1 && html` <bdi>${delivery.recipient}</bdi>`}
      ${key !== "stored_at" && html` <span class="sr">${fullTime(delivery[key])}</span>`}</span>`;
  })}</div>`;
}

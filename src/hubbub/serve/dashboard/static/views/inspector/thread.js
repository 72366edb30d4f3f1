// What was said about a task: who to whom, and how far each message got.

import { html } from "../../vendor/ui.js";
import { moment } from "../../model/moment.js";
import { Ago } from "../../ui/ago.js";
import { Markdown } from "../../ui/markdown.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { t } from "../../words.js";
import { Deliveries } from "../messages/deliveries.js";
import { called } from "../messages/people.js";

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
  const who = author ?? called(sender);
  const whom = recipient === null ? t("messages.all") : called(recipient);
  return html`
    <li class="thread-message">
      <${Tile} small agent=${who} picture=${picture} />
      <div class="grow">
        <div class="thread-head"><bdi class="strong">${who}</bdi>
          <span class="muted">${t("inspector.to_whom", { name: "" })}<bdi>${whom}</bdi></span>
          <span class="faint"><${Ago} at=${at} /></span></div>
        <div class="thread-body">
          ${rendered ? html`<${Markdown} html=${rendered} />` : html`<${Text} value=${body} />`}</div>
        <${Deliveries} deliveries=${deliveries} at=${moment.value?.at} />
      </div>
    </li>`;
}

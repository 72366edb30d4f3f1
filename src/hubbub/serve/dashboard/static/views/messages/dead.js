// Dead letters: what nobody came to read. Each leads to where it was said; it is gone from here when it is read.

import { html } from "../../vendor/ui.js";
import { href } from "../../shell/router.js";
import { Ago } from "../../ui/ago.js";
import { Card } from "../../ui/card.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { t } from "../../words.js";
import { called } from "./people.js";

/** @param {{letters: object[]}} props as `GET /dead-letters` tells them */
export const DeadLetters = ({ letters }) => html`<ul class="threads">${letters.map((letter) => html`<li
  key=${letter.id}><${DeadLetter} letter=${letter} /></li>`)}</ul>`;

function DeadLetter({ letter }) {
  const { id, ref, sender, recipient, title } = letter;
  const names = t("messages.from_to", { from: called(sender), to: called(recipient) });
  return html`<${Card} item=${`dead:${id}`} href=${placeOf(letter)} tone="amber" name=${`${ref}, ${names}`}>
    <div class="row"><${Icon} name="triangle-alert" size=${14} /><span class="mono faint">${ref}</span>
      <bdi class="clip grow strong">${names}</bdi>
      <span class="meta faint"><${Ago} at=${letter.stored_at} /></span></div>
    ${title && html`<div class="thread-title"><${Text} value=${title} lines=${1} /></div>`}
    <div class="meta faint">${t(letter.expired ? "messages.dead_expired" : "messages.dead_absent",
      { name: called(recipient) })}</div>
  <//>`;
}

const placeOf = ({ task_id: task, message_id: message }) =>
  task ? href("messages", { task, dead: "1" }) : href("messages", { thread: message, dead: "1" });

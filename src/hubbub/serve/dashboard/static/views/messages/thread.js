// One thread in the list: who talks, about what, what was said last, and who has not read it yet.

import { html } from "../../vendor/ui.js";
import { route, href } from "../../shell/router.js";
import { Ago } from "../../ui/ago.js";
import { Card } from "../../ui/card.js";
import { Badge } from "../../ui/chip.js";
import { Icon } from "../../ui/icon.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { list, t } from "../../words.js";
import { called, HUB } from "./people.js";

const MOST_TILES = 3;
const MOST_NAMES = 4;
const ICONS = { message: "message-square", broadcast: "megaphone", named: "messages-square" };

/** Whether a thread has the words and the agents that the filter asks for. */
export function isAsked(thread, query) {
  const names = thread.participants.map((name) => name.toLowerCase());
  const text = `${thread.title}\n${thread.last.body}\n${names.join("\n")}`.toLowerCase();
  return query.words.every((word) => text.includes(word))
    && (query.agent.length === 0 || query.agent.some((name) => names.some((each) => each.startsWith(name))));
}

/** Names, the first few of many. */
export function namesOf(given) {
  const names = given.map(called);
  if (names.length <= MOST_NAMES) return list(names);
  return list([...names.slice(0, MOST_NAMES - 1), t("messages.others", { count: names.length - MOST_NAMES + 1 })]);
}

/**
 * @param {{thread: object, at: number|undefined, current: boolean, picture: object}} props
 *   `at`: the moment that is shown, if it is past
 */
export function ThreadRow({ thread, at, current, picture }) {
  const isLate = at !== undefined && thread.last.created_at > at; // what was said last then is not told here
  const agents = thread.participants.filter((name) => picture.agents.has(name));
  const names = namesOf(thread.participants);
  const forPeople = at === undefined && thread.unacked_by.includes(HUB);
  return html`<li><${Card} item=${`thread:${thread.id}`}
    href=${href("messages", { ...route.value.query, thread: thread.id })}
    name=${`${names}, ${thread.title.slice(0, 120)}`} current=${current} tone=${forPeople ? "amber" : undefined}>
    <div class="row">
      <${Icon} name=${ICONS[thread.kind] ?? "message-square"} size=${14} />
      ${agents.slice(0, MOST_TILES).map((name) => html`<${Tile} key=${name} small agent=${name}
        picture=${picture} />`)}
      <bdi class="clip grow strong">${names}</bdi>
      <span class="meta faint"><${Ago} at=${isLate ? thread.created_at : thread.last.created_at} /></span>
    </div>
    <div class="thread-title"><${Text} value=${thread.title} lines=${1} /></div>
    ${!isLate && thread.count > 1 && html`<div class="small muted clip">
      <bdi>${thread.last.author ?? called(thread.last.sender)}</bdi>:${" "}
      <${Text} value=${thread.last.body} /></div>`}
    <div class="row meta faint">
      <span>${t("messages.count", { count: thread.count })}</span>
      ${at === undefined && thread.unread_by.length > 0 && html`<span class="row-tight"><${Icon} name="eye-off"
        size=${12} />
        ${t("messages.unread_by", { names: namesOf(thread.unread_by) })}</span>`}
      ${forPeople && html`<span class="end amber strong">${t("messages.for_people")}</span>`}
    </div>
  <//></li>`;
}

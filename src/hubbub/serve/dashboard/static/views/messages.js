// Messages: the threads that belong to no task, and what is said in one of them. Reading acknowledges nothing.

import { html, useRef, useState } from "../vendor/ui.js";
import { read } from "../hub/reads.js";
import { isEmpty, parse } from "../model/filter.js";
import { could, inProject, may, moment, shown } from "../model/moment.js";
import { compose } from "../shell/asked.js";
import { route, set } from "../shell/router.js";
import { useList } from "../shell/moving.js";
import { Button } from "../ui/button.js";
import { Empty } from "../ui/empty.js";
import { t } from "../words.js";
import { existed, Fetched, useFetched } from "./fetched.js";
import { Conversation } from "./messages/conversation.js";
import { DeadLetters } from "./messages/dead.js";
import { isAsked, ThreadRow } from "./messages/thread.js";

const PAGE = 50;

export function View() {
  const chosen = route.value.query.thread;
  const list = useRef(null);
  useList(list);
  const pages = useThreads();
  const dead = useDead();
  const onlyDead = dead.length > 0 && route.value.query.dead === "1";
  return html`<div class=${`messages ${chosen ? "has-thread" : ""}`} ref=${list}>
    <section class="thread-list" aria-label=${t("messages.threads")}>
      <div class="view-head">
        <h2 class="grow section-title">${t("messages.threads")}</h2>
        ${could.value.write && html`<${Button} small icon="plus" disabled=${!may.value.write}
          onClick=${() => compose([])}>${t("messages.new")}<//>`}
      </div>
      ${dead.length > 0 && html`<${Button} small icon="triangle-alert" pressed=${onlyDead}
        onClick=${() => set({ dead: onlyDead ? null : "1" })}>${t("messages.dead", { count: dead.length })}<//>`}
      ${onlyDead ? html`<${DeadLetters} letters=${dead} />`
        : html`<${Fetched} of=${pages}>${(threads) => html`<${Threads} threads=${threads} chosen=${chosen} />`}<//>`}
      ${!onlyDead && pages.next && html`<${Button} small onClick=${pages.more}>${t("messages.older")}<//>`}
    </section>
    ${chosen ? html`<${Conversation} key=${chosen} id=${chosen} onBack=${() => set({ thread: null })} />`
      : html`<div class="conversation is-empty"><${Empty} icon="messages-square" title=${t("messages.pick")}
          text=${t("messages.pick_text")} /></div>`}
  </div>`;
}

/** What nobody came to read, as it is now: of the past that is not known. */
function useDead() {
  const fetched = useFetched(() => read.deadLetters({ limit: PAGE }), [], ["message.", "task.", "agent."]);
  return moment.value ? [] : fetched.value?.letters ?? [];
}

/** The newest threads, fresh, and the older pages that were asked for. */
function useThreads() {
  const [older, setOlder] = useState([]);
  const newest = useFetched(() => read.threads({ limit: PAGE }), [], ["message.", "broadcast"]);
  const last = older.at(-1) ?? newest.value;
  const more = async () => {
    const page = await read.threads({ before: last.next, limit: PAGE });
    setOlder((pages) => [...pages, page]);
  };
  const all = new Map(); // an old thread that was written to stands among the newest, too
  for (const one of [newest.value, ...older].flatMap((page) => page?.threads ?? [])) {
    if (!all.has(one.id)) all.set(one.id, one);
  }
  return { value: newest.value && [...all.values()], error: newest.error, next: last?.next, more };
}

function Threads({ threads, chosen }) {
  const query = parse(route.value.query.q);
  const there = existed(threads).filter((thread) => isAsked(thread, query));
  const at = moment.value?.at;
  if (there.length === 0 && !isEmpty(query)) {
    return html`<${Empty} icon="filter" title=${t("messages.none_match")} text=${t("messages.none_match_text")} />`;
  }
  if (there.length === 0) {
    return html`<${Empty} icon="messages-square" title=${t("messages.empty")} text=${t("messages.empty_text")}
      command=${inProject('hubbub send hub "Hello"')} />`;
  }
  return html`<ul class="threads">${there.map((thread) => html`<${ThreadRow} key=${thread.id} thread=${thread}
    at=${at} current=${chosen === thread.id} picture=${shown.value} />`)}</ul>`;
}

// Messages: the threads that belong to no task, and what is said in one of them. Reading acknowledges nothing.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/ui.js";
import { isEmpty, parse } from "../model/filter.js";
import { could, inProject, may, moment, now, shown } from "../model/store.js";
import { act } from "../hub/actions.js";
import { read } from "../hub/endpoints.js";
import { list, t } from "../i18n.js";
import { compose } from "../shell/dialogs.js";
import { useList } from "../shell/keyboard.js";
import { href, route, set } from "../shell/router.js";
import { Card } from "../ui/card.js";
import { Badge, Button, Icon, IconButton } from "../ui/controls.js";
import { Empty } from "../ui/empty.js";
import { dismissDraft, onCommandEnter, TextArea, useDraft, written } from "../ui/form.js";
import { Markdown } from "../ui/markdown.js";
import { Tile } from "../ui/marks.js";
import { Ago, Text } from "../ui/text.js";
import { called, Deliveries, HUB, reached, receiverOf, senderOf } from "./deliveries.js";
import { existed, Fetched, useFetched } from "./fetching.js";

// One thread in the list: who talks, about what, what was said last, and who has not read it yet.

const MOST_TILES = 3;
const MOST_NAMES = 4;
const ICONS = { message: "message-square", broadcast: "megaphone", named: "messages-square" };

/** Whether a thread has the words and the agents that the filter asks for. */
function isAsked(thread, query) {
  const names = thread.participants.map((name) => name.toLowerCase());
  const text = `${thread.title}\n${thread.last.body}\n${names.join("\n")}`.toLowerCase();
  return query.words.every((word) => text.includes(word))
    && (query.agent.length === 0 || query.agent.some((name) => names.some((each) => each.startsWith(name))));
}

/** Names, the first few of many. */
function namesOf(given) {
  const names = given.map(called);
  if (names.length <= MOST_NAMES) return list(names);
  return list([...names.slice(0, MOST_NAMES - 1), t("messages.others", { count: names.length - MOST_NAMES + 1 })]);
}

/**
 * @param {{thread: object, at: number|undefined, current: boolean, picture: object}} props
 *   `at`: the moment that is shown, if it is past
 */
function ThreadRow({ thread, at, current, picture }) {
  const isLate = at !== undefined && thread.last.created_at > at; // what was said last then is not told here
  const agents = thread.participants.filter((name) => picture.agents.has(name));
  const names = namesOf(thread.participants);
  const forPeople = at === undefined && thread.for_people;
  const unread = at === undefined ? thread.unread_by.filter((name) => name !== HUB) : []; // people look without a trace
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
      <bdi>${senderOf(thread.last)}</bdi>:${" "}
      <${Text} value=${thread.last.body} /></div>`}
    <div class="row meta faint">
      <span class="num nowrap">${t("messages.count", { count: thread.count })}</span>
      ${unread.length > 0 && html`<span class="clip"><${Icon} name="eye-off" size=${12} />${" "}
        ${t("messages.unread_by", { names: namesOf(unread) })}</span>`}
      ${forPeople && html`<span class="end amber strong nowrap">${t("messages.for_people")}</span>`}
    </div>
  <//></li>`;
}

// Dead letters: what nobody came to read. Each leads to where it was said; it is gone from here when it is read.

/** @param {{letters: object[]}} props as `GET /dead-letters` tells them */
const DeadLetters = ({ letters }) => html`<ul class="threads">${letters.map((letter) => html`<li
  key=${letter.id}><${DeadLetter} letter=${letter} /></li>`)}</ul>`;

function DeadLetter({ letter }) {
  const { id, ref, recipient, title } = letter;
  const names = t("messages.from_to", { from: senderOf(letter), to: called(recipient) });
  return html`<${Card} item=${`dead:${id}`} href=${placeOf(letter)} tone="amber" name=${`${ref}, ${names}`}>
    <div class="row"><${Icon} name="triangle-alert" size=${14} /><span class="ref mono faint">${ref}</span>
      <bdi class="clip grow strong">${names}</bdi>
      <span class="meta faint"><${Ago} at=${letter.stored_at} /></span></div>
    ${title && html`<div class="thread-title"><${Text} value=${title} lines=${1} /></div>`}
    <div class="meta faint">${t(letter.expired ? "messages.dead_expired" : "messages.dead_absent",
      { name: called(recipient) })}</div>
  <//>`;
}

const placeOf = ({ task_id: task, message_id: message }) =>
  task ? href("messages", { task, dead: "1" }) : href("messages", { thread: message, dead: "1" });

// The place to answer, below a conversation. What is sent stands in the conversation at once.

/** @param {{thread: string, messages: object[], disabled: boolean, onSent: (message: object) => void}} props */
function Reply({ thread, messages, disabled, onSent }) {
  const form = useRef(null);
  const draft = `thread:${thread}`;
  useDraft(form, draft);
  const [text, setText] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const last = messages.at(-1);
  const isReady = text.trim() !== "" && !isBusy && !disabled && last !== undefined;
  const send = async (event) => {
    event?.preventDefault();
    if (!isReady) return;
    setIsBusy(true);
    const answer = await act("send", { text, in_reply_to: last.id });
    setIsBusy(false);
    if (!answer) return; // refused, as the sentence says: nothing that was typed is lost
    setText("");
    dismissDraft(draft);
    onSent(answer.message);
  };
  return html`<form class="reply" ref=${form} onSubmit=${send}>
    <${TextArea} label=${replyLabel(last)} rows="2" value=${text} disabled=${isBusy || moment.value !== null}
      onKeyDown=${onCommandEnter} onInput=${(event) => setText(event.currentTarget.value)} />
    <${Button} kind="primary" type="submit" icon="send" disabled=${!isReady}
      keyHint=${written("mod+Enter")}>${t("messages.send_reply")}<//>
  </form>`;
}

/** Who gets an answer to a message: the other end of it, as the hub takes it. @param {object} [last] */
function replyLabel(last) {
  if (!last || (last.sender === HUB && last.recipient === null)) return t("messages.reply");
  return t("messages.reply_to", { name: last.sender === HUB ? receiverOf(last) : senderOf(last) });
}

// What is said in one thread: each message with how far it has got, and the place to answer.

const AGAIN = 4_000; // milliseconds; that something was seen is in no log, so it is asked for
const MESSAGES_A_PAGE = 200;

/** @param {{id: string, onBack: () => void}} props */
function Conversation({ id, onBack }) {
  const [sent, setSent] = useState([]);
  const fetched = useFetched(() => read.thread(id, { limit: MESSAGES_A_PAGE }), [id], ["message."]);
  const known = withSent(fetched.value?.messages ?? [], sent);
  useUnseen(known, fetched.again);
  const add = (message) => {
    setSent((before) => [...before, message]);
    fetched.again();
  };
  return html`<section class="conversation" aria-label=${t("messages.conversation")}>
    <${Fetched} of=${fetched}>${({ thread, earlier }) => html`
      <${Head} thread=${thread} onBack=${onBack} />
      <${Said} messages=${existed(known)} earlier=${earlier} id=${id} />
      ${could.value.write && html`<${Reply} key=${id} thread=${id} messages=${known}
        disabled=${!may.value.write} onSent=${add} />`}`}<//>
  </section>`;
}

/** What this page has sent stands there before the hub is asked again. */
function withSent(messages, sent) {
  const ids = new Set(messages.map((message) => message.id));
  return [...messages, ...sent.filter((message) => !ids.has(message.id))];
}

/** Look again while something has not been seen. */
function useUnseen(messages, again) {
  const isOpen = messages.some(({ deliveries = [] }) =>
    deliveries.some((each) => !each.acked_at && !each.withdrawn_at));
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    if (!isOpen || moment.value) return undefined;
    const timer = setInterval(() => document.hidden || latest.current(), AGAIN);
    return () => clearInterval(timer);
  }, [isOpen, Boolean(moment.value)]);
}

function Head({ thread, onBack }) {
  const heading = useRef(null);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [thread.id]);
  return html`<div class="conversation-head">
    <div class="row"><span class="only-phone"><${IconButton} kind="quiet" icon="arrow-left"
      label=${t("messages.back")} onClick=${onBack} /></span>
      <h2 class="grow" tabindex="-1" ref=${heading}><${Text} value=${thread.title} lines=${2} /></h2></div>
    <p class="small muted">${t("messages.between", { names: namesOf(thread.participants) })}</p>
  </div>`;
}

function Said({ messages, earlier, id }) {
  const [older, setOlder] = useState({ messages: [], earlier: null });
  const box = useRef(null);
  const last = messages.at(-1)?.id;
  useEffect(() => {
    box.current.scrollTop = box.current.scrollHeight;
  }, [last]);
  const hasEarlier = older.earlier ?? earlier;
  const load = async () => {
    const before = (older.messages[0] ?? messages[0]).number;
    const page = await read.thread(id, { limit: MESSAGES_A_PAGE, before });
    setOlder({ messages: [...page.messages, ...older.messages], earlier: page.earlier });
  };
  return html`<div class="talk" ref=${box} tabindex="0" role="log" aria-label=${t("messages.said")}>
    ${hasEarlier && html`<${Button} small onClick=${load}>${t("messages.earlier")}<//>`}
    ${[...older.messages, ...messages].map((message) => html`<${Message} key=${message.id} message=${message} />`)}
  </div>`;
}

function Message({ message }) {
  const { addressee, deliveries = [], sender } = message;
  const at = moment.value ? now.value : undefined;
  const picture = shown.value;
  const [from, to] = [senderOf(message), receiverOf(message)];
  const isOpen = deliveries.filter((each) => each.for_people && reached(each, at).step !== "acked");
  return html`<article class=${`message ${sender === HUB ? "is-ours" : ""}`}
    aria-label=${t("messages.from_to", { from, to })}>
    <div class="row small">
      ${picture.agents.has(sender) && html`<${Tile} small agent=${sender} picture=${picture} />`}
      <bdi class="strong clip">${from}</bdi><span class="faint" aria-hidden="true">→</span><bdi
        class="muted clip">${to}</bdi>
      ${message.intent && html`<span class="faint">${message.intent}</span>`}
      <span class="end meta faint"><${Ago} at=${message.created_at} /></span>
    </div>
    ${message.body_html ? html`<${Markdown} html=${message.body_html} />` : html`<p class="plain"><${Text}
      value=${message.body} /></p>`}
    <${Deliveries} deliveries=${deliveries} addressee=${addressee} at=${at} />
    ${isOpen.map((delivery) => could.value.write && html`<${Button} key=${delivery.id} small icon="check"
      disabled=${!may.value.write}
      onClick=${() => act("acknowledge", { letter: delivery.id })}>${t("messages.done")}<//>`)}
  </article>`;
}

const THREADS_A_PAGE = 50;

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
      : html`<div class="conversation is-empty">${pages.value?.length > 0
          && html`<${Empty} icon="messages-square" title=${t("messages.pick")}
            text=${t("messages.pick_text")} />`}</div>`}
  </div>`;
}

/** What nobody came to read, as it is now: of the past that is not known. */
function useDead() {
  const fetched = useFetched(() => read.deadLetters({ limit: THREADS_A_PAGE }), [], ["message.", "task.", "agent."]);
  return moment.value ? [] : fetched.value?.letters ?? [];
}

/** The newest threads, fresh, and the older pages that were asked for. */
function useThreads() {
  const [older, setOlder] = useState([]);
  const newest = useFetched(() => read.threads({ limit: THREADS_A_PAGE }), [], ["message.", "broadcast"]);
  const last = older.at(-1) ?? newest.value;
  const more = async () => {
    const page = await read.threads({ before: last.next, limit: THREADS_A_PAGE });
    setOlder((pages) => [...pages, page]);
  };
  const all = new Map(); // an old thread that was written to stands among the newest, too
  for (const one of [newest.value, ...older].flatMap((page) => page?.threads ?? [])) {
    if (!all.has(one.id)) all.set(one.id, one);
  }
  return { value: newest.value && [...all.values()], error: newest.error, next: last?.next, more };
}

const PLAIN = /^\w[\w.@+-]*$/; // a name that a shell takes as it is

/** An agent to write to; while there is none, all people. */
const somebody = () => [...shown.value.agents.keys()].find((name) => PLAIN.test(name)) ?? "hub";

function Threads({ threads, chosen }) {
  const query = parse(route.value.query.q);
  const there = existed(threads).filter((thread) => isAsked(thread, query));
  const at = moment.value?.at;
  if (there.length === 0 && !isEmpty(query)) {
    return html`<${Empty} icon="filter" title=${t("messages.none_match")} text=${t("messages.none_match_text")} />`;
  }
  if (there.length === 0) {
    return html`<${Empty} icon="messages-square" title=${t("messages.empty")} text=${t("messages.empty_text")}
      command=${inProject(`hubbub send ${somebody()} "Hello"`)} />`;
  }
  return html`<ul class="threads">${there.map((thread) => html`<${ThreadRow} key=${thread.id} thread=${thread}
    at=${at} current=${chosen === thread.id} picture=${shown.value} />`)}</ul>`;
}

// What is said in one thread: each message with how far it has got, and the place to answer.

import { html, useEffect, useRef, useState } from "../../vendor/ui.js";
import { act } from "../../hub/actions.js";
import { read } from "../../hub/reads.js";
import { could, may, moment, now, shown } from "../../model/moment.js";
import { Ago } from "../../ui/ago.js";
import { Button, IconButton } from "../../ui/button.js";
import { Markdown } from "../../ui/markdown.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { t } from "../../words.js";
import { existed, Fetched, useFetched } from "../fetched.js";
import { Deliveries, reached } from "./deliveries.js";
import { called, HUB } from "./people.js";
import { Reply } from "./reply.js";
import { namesOf } from "./thread.js";

const AGAIN = 4_000; // milliseconds; that something was seen is in no log, so it is asked for
const PAGE = 200;

/** @param {{id: string, onBack: () => void}} props */
export function Conversation({ id, onBack }) {
  const [sent, setSent] = useState([]);
  const fetched = useFetched(() => read.thread(id, { limit: PAGE }), [id], ["message."]);
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
  useEffect(() => heading.current?.focus({ preventScroll: true }), [thread.id]);
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
    const page = await read.thread(id, { limit: PAGE, before });
    setOlder({ messages: [...page.messages, ...older.messages], earlier: page.earlier });
  };
  return html`<div class="talk" ref=${box} tabindex="0" role="log" aria-label=${t("messages.said")}>
    ${hasEarlier && html`<${Button} small onClick=${load}>${t("messages.earlier")}<//>`}
    ${[...older.messages, ...messages].map((message) => html`<${Message} key=${message.id} message=${message} />`)}
  </div>`;
}

function Message({ message }) {
  const { deliveries = [], sender, author, recipient } = message;
  const at = moment.value ? now.value : undefined;
  const picture = shown.value;
  const from = author ?? called(sender);
  const to = recipient === null ? t("messages.all") : called(recipient);
  const isOpen = deliveries.filter((each) => each.recipient === HUB && reached(each, at).step !== "acked");
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
    <${Deliveries} deliveries=${deliveries} at=${at} />
    ${isOpen.map((delivery) => could.value.write && html`<${Button} key=${delivery.id} small icon="check"
      disabled=${!may.value.write}
      onClick=${() => act("acknowledge", { letter: delivery.id })}>${t("messages.done")}<//>`)}
  </article>`;
}

// The live picture: a snapshot, and from its place in the log on every activity, folded in as it happens. The stream
// is one of server-sent events, read by fetch so that it resumes exactly where it broke, knows why it was refused,
// and notices a line that died without saying so. What arrives is collected and shown once a frame.

import { batch, computed, effect, signal } from "../vendor/ui.js";
import { apply, copy, forget, NOUNS, open } from "../model/fold.js";
import {
  arrived, clockOffset, first, hubNow, live, loaded, lostAt, me, moment, recent, RECENT, REPLAYED,
} from "../model/store.js";
import { address, get, leaveForLogin } from "./api.js";

// Server-sent events out of the body of an answer. Our hub's frames are one `id:` and one `data:` line of JSON.

/**
 * The JSON of each frame, as it comes. `heard` is called for whatever arrives, comments too.
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} heard
 */
async function* frames(body, heard) {
  const decoder = /** @type {ReadableWritablePair<string, Uint8Array>} */ (new TextDecoderStream());
  const reader = body.pipeThrough(decoder).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const data = part.split("\n").find((line) => line.startsWith("data:"));
        if (data) yield JSON.parse(data.slice(5));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @typedef {"connecting"|"live"|"reconnecting"|"paused"|"refused"} ConnectionStatus */

/** @typedef {{status: ConnectionStatus, behindMs: number, id: number, why: string|null}} Connection */

/** How the stream is, how far it is behind, and the last id. @type {import("../vendor/ui.js").Signal<Connection>} */
export const connection = signal({ status: "connecting", behindMs: 0, id: 0, why: null });
export const isLive = computed(() => connection.value.status === "live");
export const isAway = computed(() => connection.value.status === "reconnecting");

const BLINK = 2_000; // milliseconds: a hub that is back as soon as that is not worth a word
const HEARTBEAT_MISSED = 35_000; // the hub says something every 15 s
const LONGEST_PAUSE = 5_000;
const HIDDEN_FOR = 5 * 60_000; // then a page that nobody sees gives its connection back: browsers have six a host
const HIDDEN_FLUSH = 500; // frames are not drawn while nobody sees them, and so do not come
const QUIET = 1_500;
const MANY = 1_500; // tasks, from which on it is worth looking for some to let go of

let picture = open(); // folded on and on; what is published are copies
let place = 0; // the last id, from which the stream goes on
let seen = new Set(); // ids after the snapshot's place that are in the snapshot
let told = new Set(); // ids that are among the recent ones already
let waiting = []; // came in, not yet folded
let due = false; // whether a flush is planned
let running = null; // the AbortController of the stream that is open
let heardAt = 0;
/** @type {(value?: unknown) => void} */
let goOn = () => {}; // ends the pause between two tries
let hiddenTimer;
let wanted = () => false; // whether somebody wants to be told things while the page is hidden

/** Say since when the hub is away, if it is for longer than a blink; returns how to stop waiting for that. */
effect(() => {
  if (!isAway.value) return void (lostAt.value = null);
  const at = Date.now();
  const timer = setTimeout(() => (lostAt.value = at), BLINK);
  return () => clearTimeout(timer);
});

/** @param {Partial<Connection>} changes */
const say = (changes) => (connection.value = { ...connection.value, ...changes });

/** Keep the stream going for good. `listensHidden` says whether a hidden page has a reason to listen. */
export async function follow({ listensHidden = wanted } = {}) {
  wanted = listensHidden;
  document.addEventListener("visibilitychange", checkLine);
  addEventListener("online", hurry);
  setInterval(checkLine, 5_000);
  for (let failures = 0; connection.value.status !== "refused"; ) {
    const began = performance.now();
    const ended = await once();
    failures = ended === "reset" || performance.now() - began > LONGEST_PAUSE ? 0 : failures + 1;
    const { status } = connection.peek();
    if (status === "paused") await new Promise((resolve) => (goOn = resolve));
    else if (status !== "refused") await pause(failures);
  }
}

/** One try: a snapshot if there is none, else what who looks may do now; and the stream until it ends. */
async function once() {
  running = new AbortController();
  heardAt = Date.now();
  try {
    if (loaded.value) me.value = await get("/me"); // a stream ends when somebody's rights change
    else await begin(running.signal);
    return await listen(running.signal);
  } catch (error) {
    if (error.status === 401) leaveForLogin();
    if ([400, 403, 404].includes(error.status)) say({ status: "refused", why: error.message });
    return "broken";
  } finally {
    running = null;
    if (["live", "connecting"].includes(connection.value.status)) say({ status: "reconnecting" });
  }
}

/** Start from a snapshot, and from the last few hundred activities for those who want to see what was. */
async function begin(abort) {
  const snapshot = await get("/snapshot");
  const latest = await get("/activity", { limit: 500 });
  if (abort.aborted) return;
  picture = open(snapshot.picture);
  place = snapshot.id;
  seen = new Set(snapshot.seen);
  told = new Set(latest.activity.map(({ id }) => id));
  waiting = [];
  batch(() => {
    clockOffset.value = snapshot.at - Date.now();
    live.value = copy(picture, new Set(NOUNS), live.value);
    recent.value = latest.activity.reverse();
    first.value = snapshot.first;
    loaded.value = true;
    say({ id: place });
  });
}

/** Read the stream until it ends; says "reset" if the log does not go on from here. */
async function listen(abort) {
  const asked = address("/events", { patches: true });
  const headers = { "Last-Event-ID": String(place), Accept: "text/event-stream" };
  const response = await fetch(asked, { headers, signal: abort, cache: "no-store" });
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw Object.assign(new Error(answer.message ?? ""), { status: response.status });
  }
  say({ status: "live", why: null });
  for await (const activity of frames(response.body, () => (heardAt = Date.now()))) {
    if (activity.kind === "reset") {
      loaded.value = false;
      return "reset";
    }
    waiting.push(activity);
    plan();
  }
  return "ended";
}

function plan() {
  if (due) return;
  due = true;
  if (document.hidden) setTimeout(flush, HIDDEN_FLUSH);
  else requestAnimationFrame(flush);
}

/** Fold in what came, and show it all at once. */
function flush() {
  if (!due) return;
  due = false;
  const came = waiting;
  waiting = [];
  const changed = new Set();
  for (const activity of came) {
    if (!seen.delete(activity.id)) apply(picture, activity, changed);
    place = activity.id;
    delete activity.patch; // the log is kept for reading; replay fetches what it folds
  }
  if (!came.length) return;
  if (changed.has("tasks") && picture.tasks.size > MANY) forget(picture);
  batch(() => {
    if (changed.size) live.value = copy(picture, changed, live.value);
    remember(came);
    arrived.value = came;
    say({ id: place, behindMs: Math.max(0, hubNow() - came.at(-1).at) });
  });
}

/** Keep the latest activities; while somebody replays, what they loaded is not taken away under their hands. */
function remember(came) {
  const all = recent.value.concat(came.filter(({ id }) => !told.delete(id)));
  recent.value = all.slice(moment.value ? -REPLAYED : -RECENT);
}

/** See to the line: dead, forgotten in a hidden page, or looked at again. */
function checkLine() {
  if (document.hidden) {
    hiddenTimer ??= setTimeout(rest, HIDDEN_FOR);
    return;
  }
  clearTimeout(hiddenTimer);
  hiddenTimer = undefined;
  if (due) requestAnimationFrame(flush);
  if (connection.value.status === "paused") {
    say({ status: "reconnecting" });
    goOn();
  }
  const quiet = Date.now() - heardAt;
  if (quiet > HEARTBEAT_MISSED) running?.abort(); // after a sleep of the laptop, too
  if (quiet > QUIET && connection.value.behindMs) say({ behindMs: 0 });
}

function rest() {
  if (!document.hidden || wanted()) return;
  say({ status: "paused" });
  running?.abort();
}

/** Try again now: the network is back, or somebody asks for it. */
export function hurry() {
  goOn();
}

/** Wait before the next try, longer each time, and not all at the same moment. */
function pause(failures) {
  const longest = Math.min(LONGEST_PAUSE, 250 * 2 ** Math.min(failures, 10));
  return new Promise((resolve) => {
    goOn = resolve;
    setTimeout(resolve, longest * (0.5 + Math.random() / 2));
  });
}

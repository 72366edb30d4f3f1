// Everything a person can do, by name: `act("cancel", {task, reason})`. Each is one call of REST. The card that it is
// done to is pending until the log tells what came of it; what that is, only the hub says. If it refuses, its sentence
// is told. Calls carry a key, so that one whose answer was lost can be made again.

import { effect } from "../vendor/ui.js";
import { live, moment, pending } from "../model/store.js";
import { freshKey, Refused } from "./api.js";
import { ACTIONS } from "./endpoints.js";
import { has, t } from "../i18n.js";

const ANSWERED_FOR = 2_000; // longer than the log is ever behind; what changed nothing is told by no event
const TRIES = 3;
const BETWEEN_TRIES = 1_000;

/** @type {(refusal: string|null, isAway?: boolean) => void} */
let tell = () => {};

/**
 * Whom to tell what the hub answers: its sentence when it refuses something, null when it has done it; and whether it
 * was not there to answer.
 */
export const onAnswer = (callback) => (tell = callback);

/**
 * Do something. The answer is the hub's, or null if it refused, which was told.
 * @param {string} name  a key of ACTIONS
 * @param {object} [values]  what that action takes
 * @param {Record<string, (sentence: string) => Promise<object|null>>} [refused]  what to do instead of telling it
 *   of that code
 * @returns {Promise<object|null>}
 */
export async function act(name, values = {}, refused = {}) {
  if (moment.value) {
    tell(t("errors.replaying"));
    return null;
  }
  const { request, of } = ACTIONS[name];
  const card = of?.(values);
  const before = cardOf(card);
  const key = freshKey();
  if (card) pending.value = [...pending.value, card];
  try {
    const answer = await insist((attempt) => request(values, { key, attempt }));
    told(card, before).then(() => goOn(card));
    tell(null);
    return answer;
  } catch (error) {
    goOn(card);
    if (!(error instanceof Refused)) throw error;
    if (refused[error.code]) return refused[error.code](sentence(error));
    tell(sentence(error), error.status === 0);
    return null;
  }
}

/** Do something whose refusal the caller tells: nothing is shown before the hub has answered. Throws Refused. */
export const attempt = (name, values = {}) => ACTIONS[name].request(values, { key: freshKey(), attempt: 1 });

/** Call again, under the same key and the next number, where no answer came. */
async function insist(request) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request(tries);
    } catch (error) {
      if (error.status !== 0 || tries === TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES));
  }
}

/**
 * Why the hub did not do something, in its own sentence; in Chinese with its kind before it.
 * @param {Error & {status?: number, code?: string}} refusal
 * @param {string} [absent] what is said while the hub cannot be reached
 */
export function sentence({ status, code, message }, absent = "errors.unreachable") {
  if (status === 0) return t(absent);
  if (!message) return t("errors.refused");
  const said = message.charAt(0).toUpperCase() + message.slice(1);
  return t(has(`refusals.${code}`) ? `refusals.${code}` : "refusals.other", { said });
}

function cardOf(card) {
  const [noun, key] = card?.split("\n") ?? [];
  return live.value[noun]?.get(key);
}

/** Nothing is being done to it any more, unless that was begun twice. */
function goOn(card) {
  const place = pending.value.indexOf(card);
  if (place >= 0) pending.value = pending.value.toSpliced(place, 1);
}

/** When the log has told of the card, or has had the time to. */
function told(card, before) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ANSWERED_FOR);
    const stop = effect(() => {
      if (cardOf(card) !== before) {
        clearTimeout(timer);
        resolve();
      }
    });
    setTimeout(stop, ANSWERED_FOR);
  });
}

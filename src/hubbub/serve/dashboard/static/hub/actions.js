// Everything a person can do, by name: `act("cancel", {task, reason})`. Each is one call of REST. What will come of
// it shows at once, as an overlay on the picture that goes when the log tells of it; if the hub refuses, the overlay
// goes and its sentence is told. Calls carry a key, so that one whose answer was lost can be made again.

import { effect } from "../vendor/ui.js";
import { hubNow, live, moment, overlay } from "../model/moment.js";
import { t } from "../words.js";
import { freshKey, Refused } from "./api.js";
import { ACTIONS } from "./table.js";

const ANSWERED_FOR = 2_000; // longer than the log is ever behind; what changed nothing is told by no event
const TRIES = 3;
const BETWEEN_TRIES = 1_000;

let tell = () => {};

/** Whom to tell the hub's sentence when it refuses something. */
export const onRefusal = (callback) => (tell = callback);

/**
 * Do something. The answer is the hub's, or null if it refused, which was told.
 * @param {string} name  a key of ACTIONS
 * @param {object} [values]  what that action takes
 * @returns {Promise<object|null>}
 */
export async function act(name, values = {}) {
  if (moment.value) {
    tell(t("errors.replaying"));
    return null;
  }
  const { request, shows } = ACTIONS[name];
  const changes = (shows?.(values, hubNow(), live.value) ?? []).map((change) => ({
    ...change,
    before: live.value[change.noun].get(change.key),
  }));
  const key = freshKey();
  overlay.value = [...overlay.value, ...changes];
  try {
    const answer = await insist(() => request(values, { key }));
    settled(changes).then(() => take(changes));
    return answer;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    take(changes);
    tell(sentence(error));
    return null;
  }
}

/** Do something whose refusal the caller tells: nothing is shown before the hub has answered. Throws Refused. */
export const attempt = (name, values = {}) => ACTIONS[name].request(values, { key: freshKey() });

/** Call again, under the same key, where no answer came. */
async function insist(request) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      if (error.status !== 0 || tries === TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES));
  }
}

function sentence({ status, message }) {
  if (status === 0) return t("errors.unreachable");
  const said = message || t("errors.refused");
  return said.charAt(0).toUpperCase() + said.slice(1);
}

const take = (changes) => (overlay.value = overlay.value.filter((each) => !changes.includes(each)));

/** When the log has told of all that was expected, or has had the time to. */
function settled(changes) {
  return new Promise((resolve) => {
    const told = () => changes.every(({ noun, key, before }) => live.value[noun].get(key) !== before);
    const timer = setTimeout(resolve, ANSWERED_FOR);
    const stop = effect(() => {
      if (told()) {
        clearTimeout(timer);
        resolve();
      }
    });
    setTimeout(stop, ANSWERED_FOR);
  });
}

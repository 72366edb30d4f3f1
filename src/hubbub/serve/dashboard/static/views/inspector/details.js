// What is too large for the picture: texts, thread, events, artifacts of one task. Fetched when the task is opened,
// and again when the log tells of it; while replaying, cut at the moment.

import { useEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { arrived, moment } from "../../model/moment.js";

const PAUSE = 250; // milliseconds: a burst of events is one fetch
const NOTHING = {
  status: "loading", task: null, messages: [], activity: [], artifacts: [], deliveries: [],
  children: [], needs: [], needed_by: [], at: 0,
};

/**
 * @param {string} id
 * @returns {object} what `GET /tasks/{id}` tells, activity oldest first; `status` loading, there or absent; `at` rises
 *   with each fetch
 */
export function useDetails(id) {
  const [held, setHeld] = useState({ of: id, ...NOTHING });
  const whole = held.of === id ? held : { of: id, ...NOTHING };
  const known = useRef(whole);
  known.current = whole;
  useEffect(() => keepFresh(id, known, setHeld), [id]);
  return useMemo(() => upTo(whole, moment.value), [whole, moment.value]);
}

/** Fetch now, and again a moment after anything about it happened; returns how to stop. */
function keepFresh(id, known, setHeld) {
  const abort = new AbortController();
  let timer;
  let fetches = 0;
  let busy = false;
  let isStale = false; // something happened while the answer was on its way
  const plan = () => (timer ??= setTimeout(load, PAUSE));
  const load = async () => {
    timer = undefined;
    [busy, isStale] = [true, false];
    const answer = await fetched(id, abort.signal);
    if (abort.signal.aborted) return;
    busy = false;
    setHeld({ of: id, ...NOTHING, ...answer, at: ++fetches });
    if (isStale) plan();
  };
  const stop = arrived.subscribe((activities) => {
    const { task } = known.current;
    if (!activities.some((each) => !task || concerns(each, known.current))) return;
    if (busy) isStale = true;
    else plan();
  });
  load();
  return () => {
    abort.abort();
    clearTimeout(timer);
    stop();
  };
}

async function fetched(id, signal) {
  try {
    const answer = await read.task(id);
    return { ...answer, activity: answer.activity.toReversed(), status: "there" };
  } catch (refused) {
    if (!signal.aborted && refused.status === 0) return { status: "unreachable" };
    return { status: "absent" };
  }
}

/** Whether it is about the task, one of its messages, or a new answer to either. */
function concerns({ task_id: taskId, message_id: messageId, detail }, { task, messages }) {
  const about = [taskId, messageId, detail?.in_reply_to].filter(Boolean);
  return about.includes(task.id) || messages.some(({ id }) => about.includes(id));
}

/** What of it was there at a moment. */
function upTo(details, moment) {
  if (!moment || details.status !== "there") return details;
  const before = ({ created_at: at }) => at <= moment.at;
  return {
    ...details,
    messages: details.messages.filter(before),
    artifacts: details.artifacts.filter(before),
    activity: details.activity.filter((each) => each.id <= moment.id),
    task: null,
  };
}

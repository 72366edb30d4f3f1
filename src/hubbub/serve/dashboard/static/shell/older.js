// Tasks that the page does not have any more: asked of the hub when somebody stops typing for a moment.
import { useEffect, useState } from "../vendor/ui.js";
import { Refused } from "../hub/api.js";
import { read } from "../hub/reads.js";

/** How long somebody must have stopped typing (ms). */
const PAUSE = 250;
const MOST = 10;
/** Fewer letters are in too many titles. */
const LEAST = 2;

/** The tasks that the hub finds for what was typed. @param {string} typed @returns {any[]} */
export function useOlder(typed) {
  const [answer, setAnswer] = useState({ words: "", tasks: [] });
  const words = typed.trim();
  useEffect(() => {
    if (words.length < LEAST) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const tasks = await ask(words, stop.signal);
      if (tasks) setAnswer({ words, tasks });
    }, PAUSE);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [words]);
  return answer.words === words ? answer.tasks : [];
}

/** @returns {Promise<any[]|null>} null: nobody waits for it any more, or the hub is away */
async function ask(words, signal) {
  try {
    const { tasks } = await read.tasks({ q: words, limit: MOST });
    return signal.aborted ? null : tasks;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

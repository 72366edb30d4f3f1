// What a view reads from the hub beside the picture: read when it is shown, and again when something of the kind
// happens. And what a person does there.

import { html, signal, useEffect, useRef, useSignalEffect, useState } from "../vendor/ui.js";
import { arrived, moment } from "../model/store.js";
import { act, sentence } from "../hub/actions.js";
import { isLive } from "../hub/stream.js";
import { t } from "../i18n.js";
import { Skeleton } from "../ui/empty.js";
import { toast } from "../ui/overlays.js";

const PAUSE = 250; // ms; a burst of events reads once

/** How often somebody has done something here; not all of that is told in the log of the project. */
const acted = signal(0);

/**
 * Read now, and again when `deps` change, when `again()` is called, when one of these `kinds` happens, and when the
 * hub is back that did not answer.
 * @param {() => Promise<any>} read
 * @param {any[]} deps
 * @param {string[]} [kinds] beginnings of kinds, such as "token."
 */
export function useFetched(read, deps, kinds = []) {
  const [state, setState] = useState({ value: null, error: null });
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((count) => count + 1);
  useEffect(() => {
    let isGone = false;
    const told = (next) => isGone || setState(next);
    read().then(
      (value) => told({ value, error: null }),
      (error) => told({ value: null, error }),
    );
    return () => { isGone = true; };
  }, [...deps, turn, acted.value]);
  useNews(kinds, again);
  useEffect(() => {
    if (state.error?.status === 0 && isLive.value) again();
  }, [isLive.value]);
  return { ...state, again };
}

/** Call `heard` when something of these kinds has happened. */
function useNews(kinds, heard) {
  const timer = useRef(0);
  useSignalEffect(() => {
    const isNews = arrived.value.some(({ kind }) => kinds.some((beginning) => kind.startsWith(beginning)));
    if (!isNews) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(heard, PAUSE);
  });
  const isDeaf = kinds.length === 0; // from now on: nor to what was just heard
  useEffect(() => () => clearTimeout(timer.current), [isDeaf]);
}

/** What was fetched, or that it comes, or why it does not: `children` is called with the value. */
export function Fetched({ of, children }) {
  if (of.error) return html`<${Refusal} error=${of.error} />`;
  if (of.value === null) return html`<${Skeleton} lines=${3} />`;
  return children(of.value);
}

/** The hub's sentence where something should be that it did not tell. @param {{error: Error}} props */
export function Refusal({ error }) {
  return html`<p class="refused" role="alert">${sentence(error, "errors.not_loaded")}</p>`;
}

/**
 * Do what a person asked for, and say so. Returns the hub's answer; null if it refused, which was told.
 * @param {string} name of the action
 * @param {object} values what it takes
 * @param {string} [sentence] once it is done
 */
export async function done(name, values, sentence) {
  const answer = await act(name, values);
  if (answer) acted.value += 1;
  if (answer && sentence) toast(sentence);
  return answer;
}

/** Of rows with a time, those that were there at the moment that is shown. */
export function existed(rows, time = "created_at") {
  const until = moment.value?.at;
  return until === undefined ? rows : rows.filter((row) => row[time] <= until);
}

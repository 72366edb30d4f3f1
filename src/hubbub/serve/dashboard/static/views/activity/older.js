// The log as far as it is loaded: what the stream has brought, and before that pages that are fetched when asked for.
import { useEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { recent } from "../../model/moment.js";

const PAGE = 200;

/** Oldest first, each once: pages may overlap what the stream has brought. */
function merged(pages, live) {
  const known = new Map([...pages, ...live].map((activity) => [activity.id, activity]));
  return [...known.values()].sort((one, other) => one.id - other.id);
}

/**
 * What is loaded, with `more()` for the page before it. The hub filters by agent and task, so that rare ones are found.
 * @param {Record<string, string>} query
 * @param {number} until the moment that is shown
 */
export function useOlder({ agent, about }, until) {
  const [pages, setPages] = useState([]);
  const [isComplete, setIsComplete] = useState(false);
  const [isLoading, setIsLoading] = useState(true); // the first page is asked for at once
  const [error, setError] = useState(null);
  const turn = useRef(0);
  const load = async (before) => {
    const mine = (turn.current += 1);
    setIsLoading(true);
    const asked = { limit: PAGE, agent: agent || null, task: about || null, before };
    const answer = await read.activity(asked).catch((refusal) => ({ refusal }));
    if (mine !== turn.current) return;
    setIsLoading(false);
    setError(answer.refusal ?? null);
    if (answer.refusal) return;
    setPages((known) => [...answer.activity, ...known]);
    setIsComplete(answer.activity.length < PAGE);
  };
  const isFar = Number.isFinite(until) && until < (recent.value[0]?.id ?? 0);
  useEffect(() => {
    setPages([]);
    load(isFar ? until + 1 : null);
    return () => { turn.current += 1; };
  }, [agent, about, isFar]);
  const activities = useMemo(() => merged(pages, recent.value), [pages, recent.value]);
  const oldest = pages.reduce((least, { id }) => Math.min(least, id), Infinity);
  const more = () => !isComplete && !isLoading && load(Number.isFinite(oldest) ? oldest : null);
  return { activities, isComplete, isLoading, error, more };
}

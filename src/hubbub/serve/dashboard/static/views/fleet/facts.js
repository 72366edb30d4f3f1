// What the log does not tell of agents and machines: unread letters, the evidence of their work, how they are woken,
// how loaded a machine is. Read anew every few seconds, if anything happened meanwhile and somebody looks.

import { signal, useEffect } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { moment, recent } from "../../model/moment.js";

const PAUSE = 4_000; // milliseconds
const SHARE = 10; // of a large fleet, reading takes long: the hub is to be busy with it a tenth of the time at most

/** By name, as `GET /agents` tells of them. @type {{value: Map<string, object>}} */
export const facts = signal(new Map());

/** By name, as `GET /nodes` tells of them. @type {{value: Map<string, object>}} */
export const nodes = signal(new Map());

/** Keep `facts` and `nodes` fresh while the component is shown. Nothing is known of them in the past. */
export function useFacts() {
  useEffect(() => {
    let until; // the last activity when they were read
    let notBefore = 0;
    const look = async () => {
      const last = recent.peek().at(-1)?.id ?? 0;
      const began = performance.now();
      if (document.hidden || moment.peek() || last === until || began < notBefore) return;
      until = last;
      notBefore = Infinity;
      const [told, linked] = await Promise.all([read.agents(), read.machines()]);
      notBefore = performance.now() + SHARE * (performance.now() - began);
      facts.value = new Map(told.agents.map((agent) => [agent.name, agent]));
      nodes.value = new Map(linked.nodes.map((node) => [node.name, node]));
    };
    const again = () => look().catch(() => (until = notBefore = 0)); // the connection's state is told elsewhere
    again();
    const timer = setInterval(again, PAUSE);
    return () => clearInterval(timer);
  }, []);
}

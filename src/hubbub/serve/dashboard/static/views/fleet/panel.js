// One agent at the side: how it is, what it holds, what waits for it, and what a person can do about it.

import { html, useEffect, useRef, useState } from "../../vendor/ui.js";
import { read } from "../../hub/reads.js";
import { could, loaded, moment, recent, shown } from "../../model/moment.js";
import { isNew, tasksOf } from "../../model/states.js";
import { IconButton } from "../../ui/button.js";
import { Empty, Skeleton } from "../../ui/empty.js";
import { StateWord } from "../../ui/glyph.js";
import { Text } from "../../ui/text.js";
import { Tile } from "../../ui/tile.js";
import { t } from "../../words.js";
import { none } from "./card.js";
import { AgentActions } from "./doings.js";
import { Clashes, Facts, Held, Letters, Todos } from "./parts.js";

const PAUSE = 400; // milliseconds: a busy agent is not asked about at each of its steps

/** @param {{name: string, onClose: () => void}} props */
export function View({ name, onClose }) {
  const picture = shown.value;
  const agent = picture.agents.get(name);
  const told = useTold(name);
  const heading = useRef(null);
  useEffect(() => heading.current?.focus(), [name]);
  const isPresent = !moment.value;
  return html`<div class="agent-panel">
    <div class="row agent-panel-head">
      ${agent && html`<${Tile} agent=${agent} picture=${picture} />`}
      <h2 class="grow" tabindex="-1" ref=${heading}><bdi>${name}</bdi></h2>
      <${IconButton} kind="quiet" small icon="x" label=${t("fleet.close")} onClick=${onClose} />
    </div>
    ${agent ? html`
      <div><${StateWord} agent state=${agent.state} /></div>
      ${isNew(agent) && told && html`<p class="muted">${none(agent, told)}</p>`}
      ${agent.doing && html`<p class="muted"><${Text} value=${agent.doing} lines=${4} /></p>`}
      ${could.value.write && html`<${AgentActions} agent=${agent} placed=${told?.placed} picture=${picture} />`}
      <${Held} tasks=${tasksOf(name, picture)} picture=${picture} />
      <${Clashes} name=${name} picture=${picture} />
      <${Facts} agent=${agent} told=${isPresent ? told : null} />
      ${isPresent && told && html`<${Todos} items=${told.todos} /><${Letters} name=${name} unread=${told.unread} />`}
    ` : loaded.value ? html`<${Empty} icon="bot" title=${t("fleet.unknown")} text=${t("fleet.unknown_text")} />`
      : html`<${Skeleton} lines=${8} />`}
  </div>`;
}

/** What `GET /agents/NAME` tells; read again some time after the agent did anything. */
function useTold(name) {
  const [told, setTold] = useState(null);
  const last = recent.value.findLast(({ agent, actor }) => agent === name || actor === name)?.id;
  const known = useRef(null); // the name of the agent that is told
  useEffect(() => {
    if (moment.value) return undefined;
    const first = known.current !== name;
    if (first) setTold(null);
    let isGone = false;
    const timer = setTimeout(async () => {
      const answer = await read.agent(name).catch(() => null);
      if (isGone) return;
      known.current = name;
      setTold(answer?.agent ?? null);
    }, first ? 0 : PAUSE);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [name, last, Boolean(moment.value)]);
  return told;
}

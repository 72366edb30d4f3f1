// The read-only terminal of an agent that was placed on a machine: its last lines, and new ones as they come.
import { html, useEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { link } from "../../hub/reads.js";
import { Button, IconButton } from "../../ui/button.js";
import { Clock } from "../../ui/ago.js";
import { plain } from "./ansi.js";

const LINES_BEFORE = 500; // that it had said when one begins to look
const MOST_LINES = 2000;
const MOST_CHARACTERS = 4000; // of one line
const NEAR_THE_END = 40; // pixels

/** Follow what an agent says. Lines come in groups of a frame; what comes again after a break is dropped. */
function useLines(agent, isPaused) {
  const [lines, setLines] = useState([]);
  const [end, setEnd] = useState(null);
  const held = useRef([]);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  const flush = () => {
    if (paused.current || !held.current.length) return;
    const come = held.current.splice(0);
    setLines((before) => {
      const last = before.at(-1)?.id ?? -1;
      return [...before, ...come.filter(({ id }) => id > last)].slice(-MOST_LINES);
    });
  };
  useEffect(() => {
    const stream = new EventSource(link.output(agent, { follow: true, lines: LINES_BEFORE }));
    let frame = 0;
    stream.onmessage = ({ data }) => {
      const line = JSON.parse(data);
      held.current.push({ ...line, text: plain(line.text).slice(0, MOST_CHARACTERS) });
      if (held.current.length > MOST_LINES) held.current.shift();
      frame ||= requestAnimationFrame(() => { frame = 0; flush(); });
    };
    stream.addEventListener("end", ({ data }) => { stream.close(); setEnd(JSON.parse(data).message); });
    stream.onerror = () => stream.readyState === EventSource.CLOSED && setEnd(t("machines.terminal_refused"));
    stream.onopen = () => setEnd(null);
    return () => { cancelAnimationFrame(frame); stream.close(); };
  }, [agent]);
  useEffect(flush, [isPaused]);
  return { lines, end };
}

/** One line; what was looked for in it is marked. */
function Line({ line, found }) {
  const at = found ? line.text.toLowerCase().indexOf(found) : -1;
  return html`<div class="terminal-line"><span class="faint"><${Clock} at=${line.at} /></span>
    <bdi>${at < 0 ? line.text : marked(line.text, at, at + found.length)}</bdi></div>`;
}

const marked = (text, from, to) =>
  html`${text.slice(0, from)}<mark>${text.slice(from, to)}</mark>${text.slice(to)}`;

/** Keep the end in sight, unless somebody has scrolled up to read. */
function useEndInSight(box, lines) {
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_THE_END;
  };
}

export function View({ agent, onClose }) {
  const [isPaused, setIsPaused] = useState(false);
  const [find, setFind] = useState("");
  const { lines, end } = useLines(agent, isPaused);
  const box = useRef(null);
  const onScroll = useEndInSight(box, lines);
  const found = find.toLowerCase();
  const count = useMemo(() => lines.filter(({ text }) => text.toLowerCase().includes(found)).length, [lines, found]);
  return html`<div class="view terminal-view">
    <div class="view-head">
      <${IconButton} kind="quiet" icon="arrow-left" label=${t("machines.back")} onClick=${onClose} />
      <h2 class="clip"><bdi>${agent}</bdi></h2><span class="small muted grow">${t("machines.read_only")}</span>
      <input class="input find" type="search" placeholder=${t("machines.find")} aria-label=${t("machines.find")}
        value=${find} onInput=${(event) => setFind(event.target.value)} />
      ${found && html`<span class="small muted num" role="status">${t("machines.found", { count })}</span>`}
      <${Button} icon=${isPaused ? "play" : "pause"} pressed=${isPaused}
        onClick=${() => setIsPaused(!isPaused)}>${t(isPaused ? "machines.resume" : "machines.pause")}<//>
    </div>
    <div class="terminal" ref=${box} onScroll=${onScroll} tabindex="0" role="log" aria-live="off"
      aria-label=${t("machines.terminal_of", { name: agent })}>
      ${lines.map((line) => html`<${Line} key=${line.id} line=${line} found=${found} />`)}
      ${!lines.length && !end && html`<p class="muted">${t("machines.silent")}</p>`}
      ${end && html`<p class="muted" role="status"><bdi>${end}</bdi></p>`}
    </div></div>`;
}
